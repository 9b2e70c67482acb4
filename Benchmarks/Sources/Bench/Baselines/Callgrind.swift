import Foundation

/// Counts the instructions of the measured part with valgrind's callgrind.
struct Callgrind {
  private let valgrind: URL
  /// A copy of this program without debug information, which valgrind can't read as Swift writes
  /// it.
  private let program: URL

  /// Creates a counter, or returns `nil` if valgrind or objcopy isn't installed.
  init?(folder: URL) throws {
    guard let valgrind = Child.tool("valgrind"),
      let objcopy = Child.tool("objcopy") ?? Child.tool("llvm-objcopy")
    else { return nil }
    self.valgrind = valgrind
    program = folder.appendingPathComponent("bench-stripped")
    _ = try Child.output(of: objcopy, ["--strip-debug", Child.program.path, program.path])
  }

  /// Returns the number of instructions in one run of a row's arm.
  func instructions(of name: String, rows: Int) throws -> Int {
    let folder = program.deletingLastPathComponent()
    let file = folder.appendingPathComponent("callgrind.out")
    _ = try Child.output(
      of: valgrind,
      [
        "--tool=callgrind", "-q", "--zero-before=cfloor_measured_begin",
        "--dump-before=cfloor_measured_end", "--callgrind-out-file=\(file.path)",
        program.path, "profile", name, "--rows", "\(rows)", "--rounds", "2",
      ])
    // There's one dump per round. The first round includes one-time work.
    let text = try String(contentsOf: URL(fileURLWithPath: file.path + ".2"), encoding: .utf8)
    for line in text.split(separator: "\n").reversed() where line.hasPrefix("totals:") {
      if let total = Int(line.dropFirst("totals:".count).filter(\.isNumber)) { return total }
    }
    throw BenchError("callgrind didn't report a total for '\(name)'")
  }
}
