# The demo: a server with three models, loaded with what it can bear and with more than that.

demo=$root/build/demo
repository=$root/build/demo-models
server=

dev_demo() {
  need_packages build
  need_onnxruntime || die "$why"
  need_models || die "$why"
  build release tauto || build_failed release
  assemble_models
  trap stop_server_now EXIT
  trap 'exit 130' INT TERM
  start_server
  demo_loads
  stop_server
  trap - EXIT INT TERM
  say "reports: $(cd "$demo" && echo ./*.html | sed "s|\./|build/demo/|g")"
}

# examples/ with the weights in place.
assemble_models() {
  say "models into build/demo-models"
  rm -rf "$repository" "$demo"
  mkdir -p "$demo" "$repository"
  cp -R "$root"/examples/minilm "$root"/examples/ocr_angle "$root"/examples/synthetic "$repository"
  mkdir "$repository/minilm/1" "$repository/ocr_angle/1" "$repository/synthetic/1"
  cp "$cache/models/minilm/model.onnx" "$repository/minilm/1/"
  cp "$cache/models/ocr_angle/model.onnx" "$repository/ocr_angle/1/"
}

# Starts it on free ports and waits until it says that it is ready.
start_server() {
  say "tauto serve --model-repository build/demo-models"
  "$root/build/release/tauto" serve --model-repository "$repository" --http-port 0 \
    --metrics-port 0 --port-file "$demo/ports" --lame-duck 200ms \
    --onnxruntime-library "$ort_library" \
    >"$demo/server.log" 2>&1 &
  server=$!
  waited=0
  until [ -s "$demo/ports" ]; do
    kill -0 "$server" 2>/dev/null || {
      server=
      cat "$demo/server.log"
      die "the server ended before it was ready; its own words are above"
    }
    [ "$waited" -lt 1200 ] || die "the server is not ready after two minutes: build/demo/server.log"
    waited=$((waited + 1))
    sleep 0.1
  done
  cat "$demo/server.log"
  url=127.0.0.1:$(sed -n 's/^http //p' "$demo/ports")
}

# How fast is it, closed loop? Half of that is moderate, half as much again is too much.
demo_loads() {
  say "how many requests a second can minilm answer here?"
  bench minilm-capacity --model minilm --shape input_ids:32 --shape attention_mask:32 \
    --shape token_type_ids:32 --int-max 1 --concurrency 2 --duration 2s --warmup 500ms --quiet \
    >/dev/null
  capacity=$(sed -n 's/.*"rate_done":\([0-9]*\).*/\1/p' "$demo/minilm-capacity.json")
  [ "${capacity:-0}" -gt 2 ] || die "no throughput in build/demo/minilm-capacity.json"
  say "about $capacity; moderate load: Poisson arrivals at $((capacity / 2)) a second"
  transformer moderate $((capacity / 2))
  say "excessive load: Poisson arrivals at $((capacity * 3 / 2)) a second"
  transformer excessive $((capacity * 3 / 2))
  say "image classifier, 50 a second"
  bench ocr_angle --model ocr_angle --rate 50 --duration 2s --slo 'p99<50ms' \
    --html "$demo/ocr_angle.html"
  say "synthetic model, 200 a second"
  bench synthetic --model synthetic --rate 200 --duration 2s --slo 'p99<30ms' \
    --html "$demo/synthetic.html"
}

# transformer NAME RATE
transformer() {
  bench "minilm-$1" --model minilm --shape input_ids:32 --shape attention_mask:32 \
    --shape token_type_ids:32 --int-max 1 --rate "$2" --arrivals poisson --duration 10s \
    --slo 'p99<50ms' --html "$demo/minilm-$1.html"
}

# bench NAME FLAG...: an objective that fails (exit 3) is an answer too.
bench() {
  name=$1
  shift
  "$root/build/release/tauto" bench --url "$url" --json "$demo/$name.json" "$@" || [ $? -eq 3 ] ||
    die "tauto bench failed; its own words are above"
  kill -0 "$server" 2>/dev/null || die "the server has ended under load: see build/demo/server.log"
}

stop_server() {
  say "stop the server (SIGTERM)"
  kill -TERM "$server"
  status=0
  wait "$server" || status=$?
  server=
  [ "$status" -eq 0 ] || die "the server ended with status $status: see build/demo/server.log"
}

stop_server_now() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
}
