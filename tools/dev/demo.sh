# The demo: a server with three models, loaded as it can bear and beyond.

dev_demo() {
  die "the demo comes with the server"
}
