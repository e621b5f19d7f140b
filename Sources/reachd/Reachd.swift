@main
struct Reachd {
  static func main() {}
}
