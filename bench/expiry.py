#!/usr/bin/env python3
"""How late a deadline is answered while the engine is busy, beside a bare timer in the same run.

  bench/expiry.py --url 127.0.0.1:8000 --model slow [--count 500] [--deadline-ms 20]

The model must take much longer than the deadline (synthetic, tauto.synthetic.mode sleep). Requests
without a deadline keep it busy all the time; the others expire one after another. Two latenesses:
what the server says (waited - limit) and what this client sees (answer - intended deadline). The
bare timer is this script's own sleep of the same length, between the requests.
"""
import argparse
import http.client
import json
import threading
import time


def body_of(url, model):
    c = http.client.HTTPConnection(url, timeout=60)
    c.request("GET", f"/v2/models/{model}")
    inputs = []
    for i in json.loads(c.getresponse().read())["inputs"]:
        shape = [abs(d) for d in i["shape"]]
        count = 1
        for d in shape:
            count *= d
        inputs.append({"name": i["name"], "shape": shape, "datatype": i["datatype"],
                       "data": [0] * count})
    return inputs


def keep_busy(url, model, inputs, stop):
    c = http.client.HTTPConnection(url, timeout=60)
    while not stop.is_set():
        c.request("POST", f"/v2/models/{model}/infer", json.dumps({"inputs": inputs}))
        c.getresponse().read()


def nearest_rank(values, q):
    v = sorted(values)
    return v[max(0, -(-int(q * 1000) * len(v) // 1000) - 1)]


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--url", default="127.0.0.1:8000")
    p.add_argument("--model", required=True)
    p.add_argument("--count", type=int, default=500)
    p.add_argument("--deadline-ms", type=float, default=20)
    o = p.parse_args()
    inputs = body_of(o.url, o.model)
    stop = threading.Event()
    busy = [threading.Thread(target=keep_busy, args=(o.url, o.model, inputs, stop))
            for _ in range(2)]
    for t in busy:
        t.start()
    time.sleep(0.3)
    c = http.client.HTTPConnection(o.url, timeout=60)
    text = json.dumps({"inputs": inputs, "parameters": {"deadline_us": int(o.deadline_ms * 1000)}})
    server, client, bare = [], [], []
    for _ in range(o.count):
        begin = time.monotonic_ns()
        c.request("POST", f"/v2/models/{o.model}/infer", text)
        r = c.getresponse()
        answer = json.loads(r.read())
        if r.status != 504:
            raise SystemExit(f"expected 504, got {r.status}: is the model slow enough?")
        client.append((time.monotonic_ns() - begin) / 1e3 - o.deadline_ms * 1e3)
        server.append(answer["waited_us"] - answer["limit_us"])
        begin = time.monotonic_ns()
        time.sleep(o.deadline_ms / 1e3)
        bare.append((time.monotonic_ns() - begin) / 1e3 - o.deadline_ms * 1e3)
    stop.set()
    for t in busy:
        t.join()
    print(f"{o.count} deadlines of {o.deadline_ms} ms while the engine is busy; lateness in us")
    for name, v in (("server", server), ("client", client), ("bare timer", bare)):
        p50, p99 = nearest_rank(v, .5), nearest_rank(v, .99)
        print(f"  {name:11} P50 {p50:8.0f}  P99 {p99:8.0f}  max {max(v):8.0f}")
    beyond = nearest_rank(server, .99) - nearest_rank(bare, .99)
    print(f"  P99 server - bare timer: {beyond:.0f} us")


if __name__ == "__main__":
    main()
