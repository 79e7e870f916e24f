#!/usr/bin/env python3
"""CPU and latency per request of several servers, interleaved in one run, in closed loop by wrk.

  bench/overhead.py --server tauto=127.0.0.1:8000,PID --server echo=127.0.0.1:9000,PID ...
      --model echo --concurrency 1,16 --blocks 20 --seconds 2 [--json-tensors] [--baseline echo]

Each block runs every server once, in an order that turns from block to block. CPU is what the
kernel accounts to the server's threads (schedstat, ns). A ratio is formed inside each block; shown
are its median and the 95 % interval of the median over blocks (order statistics, binomial).
"""
import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def cpu_ns(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
                total += int(f.read().split()[0])
        except FileNotFoundError:
            pass
    return total


def lua_request(model_path, rows_dim, as_json):
    """A wrk script that posts FP32[16]; binary tensors unless as_json."""
    shape = [1, 16] if rows_dim else [16]
    header = {"inputs": [{"name": "INPUT0", "shape": shape, "datatype": "FP32"}]}
    if as_json:
        header["inputs"][0]["data"] = [float(i) for i in range(16)]
        body = json.dumps(header, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json"}
    else:
        header["inputs"][0]["parameters"] = {"binary_data_size": 64}
        header["parameters"] = {"binary_data_output": True}
        text = json.dumps(header, separators=(",", ":")).encode()
        body = text + struct.pack("<16f", *range(16))
        headers = {"Content-Type": "application/octet-stream",
                   "Inference-Header-Content-Length": str(len(text))}
    lines = ['wrk.method = "POST"', f'wrk.path = "{model_path}"',
             "wrk.body = \"" + "".join(f"\\{b:03d}" for b in body) + "\""]
    lines += [f'wrk.headers["{k}"] = "{v}"' for k, v in headers.items()]
    return "\n".join(lines) + "\n"


def run_wrk(address, script, concurrency, seconds):
    out = subprocess.run(["wrk", "-t1", f"-c{concurrency}", f"-d{seconds}s", "--latency",
                          "-s", script,
                          f"http://{address}/"], capture_output=True, text=True, check=True).stdout
    requests = int(re.search(r"(\d+) requests in", out)[1])
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    if bad:
        sys.exit(f"{address} refused {bad[1]} of {requests} requests")

    def percentile(p):
        found = re.search(rf"{p}%\s+([\d.]+)(us|ms|s)", out)
        return float(found[1]) * UNITS[found[2]]

    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
    return {"requests": requests, "rate": rate, "p50_us": percentile(50), "p99_us": percentile(99)}


def median_interval(values):
    """Median and its 95 % interval by order statistics; the whole range when there are too few."""
    v = sorted(values)
    n = len(v)
    median = (v[(n - 1) // 2] + v[n // 2]) / 2
    below, low = 0.0, 0
    while low < n // 2:
        below += math.comb(n, low) / 2 ** n
        if below > 0.025:
            break
        low += 1
    low = max(0, low - 1) if below > 0.025 else 0
    return median, v[low], v[n - 1 - low]


def parse_server(text):
    name, _, rest = text.partition("=")
    address, _, pid = rest.partition(",")
    return name, address, int(pid)


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--server", action="append", required=True, type=parse_server)
    p.add_argument("--model", default="echo")
    p.add_argument("--batched", action="store_true", help="the model has a batch dimension")
    p.add_argument("--json-tensors", action="store_true")
    p.add_argument("--concurrency", default="1,16")
    p.add_argument("--blocks", type=int, default=20)
    p.add_argument("--seconds", type=int, default=2)
    p.add_argument("--baseline", help="servers are compared with this one; default: the last")
    o = p.parse_args()
    baseline = o.baseline or o.server[-1][0]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(lua_request(f"/v2/models/{o.model}/infer", o.batched, o.json_tensors))
        script.flush()
        for concurrency in map(int, o.concurrency.split(",")):
            report(concurrency, measure(o, script.name, concurrency), baseline)


def measure(o, script, concurrency):
    rows = {name: [] for name, _, _ in o.server}
    for _, address, _ in o.server:
        run_wrk(address, script, concurrency, 1)  # warm
    for block in range(o.blocks):
        turn = block % len(o.server)
        for name, address, pid in o.server[turn:] + o.server[:turn]:
            before = cpu_ns(pid)
            row = run_wrk(address, script, concurrency, o.seconds)
            row["cpu_us"] = (cpu_ns(pid) - before) / row["requests"] / 1e3
            rows[name].append(row)
    return rows


def report(concurrency, rows, baseline):
    print(f"concurrency {concurrency}, {len(rows[baseline])} blocks")
    print(f"  {'server':10} {'req/s':>8} {'CPU us':>8} {'P50 us':>8} {'P99 us':>8}   "
          f"CPU, P50, P99 over {baseline}: median (95 %)")
    for name, blocks in rows.items():
        shown = [median_interval([b[k] for b in blocks])[0]
                 for k in ("rate", "cpu_us", "p50_us", "p99_us")]
        ratios = []
        for key in ("cpu_us", "p50_us", "p99_us"):
            pairs = [b[key] / base[key] for b, base in zip(blocks, rows[baseline])]
            m, low, high = median_interval(pairs)
            ratios.append(f"{m:.2f} ({low:.2f}-{high:.2f})")
        print(f"  {name:10} {shown[0]:8.0f} {shown[1]:8.1f} {shown[2]:8.0f} {shown[3]:8.0f}   " +
              "  ".join(ratios))


if __name__ == "__main__":
    main()
