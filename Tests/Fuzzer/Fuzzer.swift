import CLibFuzzer
import Foundation
import FuzzTargets

/// Reads random inputs with libFuzzer, which prefers those that reach new code.
///
///     Fuzzer predicate CORPUS -max_total_time=600      libFuzzer's own arguments
///     Fuzzer predicate INPUT                           reads an input again
///     Fuzzer predicate -merge=1 NEW CORPUS             copies the inputs that reach most code
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
    guard arguments.count > 1 else { fail("Fuzzer TARGET CORPUS … | Fuzzer seeds CORPUS") }
    if arguments[1] == "seeds", arguments.count > 2 {
      return try FuzzSeeds(in: URL(fileURLWithPath: arguments[2])).write()
    }
    // libFuzzer starts the program again, with its own arguments only, to merge corpora.
    let inherited = ProcessInfo.processInfo.environment["FUZZER_TARGET"]
    if let named = FuzzTarget(rawValue: arguments[1]) {
      target = named
      setenv("FUZZER_TARGET", arguments.remove(at: 1), 1)
    } else if let named = inherited.flatMap(FuzzTarget.init) {
      target = named
    } else {
      fail("targets: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
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
