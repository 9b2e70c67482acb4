import CLibFuzzer
import Foundation

/// Reads random inputs with libFuzzer, which prefers those that reach new code.
///
///     Fuzzer predicate CORPUS -max_total_time=600      libFuzzer's own arguments
///     Fuzzer predicate INPUT                           reads an input again
///     Fuzzer seeds CORPUS                              adds the repository's own files
///
/// A trap, a hang, or more than the memory that's allowed ends the program, and leaves the input in
/// the folder of `-artifact_prefix`.
@main
enum Fuzzer {
  /// The target, which libFuzzer's function can't capture.
  nonisolated(unsafe) private static var target = FuzzTarget.predicate

  static func main() throws {
    var arguments = CommandLine.arguments
    guard arguments.count > 2 else { fail("Fuzzer TARGET CORPUS … | Fuzzer seeds CORPUS") }
    let name = arguments.remove(at: 1)
    if name == "seeds" { return try FuzzSeeds(in: URL(fileURLWithPath: arguments[1])).write() }
    guard let named = FuzzTarget(rawValue: name) else {
      fail("targets: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    target = named
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var count = Int32(arguments.count)
    let status = pointers.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return LLVMFuzzerRunDriver(&count, &start) { bytes, count in
        let input = UnsafeBufferPointer(start: bytes, count: count)
        Fuzzer.target.read(Array(input))
        return 0
      }
    }
    exit(status)
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(64)
  }
}
