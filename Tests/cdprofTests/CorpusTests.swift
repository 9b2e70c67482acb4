import Foundation
import FuzzTargets
import Testing

/// What `make fuzz` found to reach different code is read without a trap, in each build.
@Suite("Corpus of the fuzzer")
struct CorpusTests {
  @Test(arguments: FuzzTarget.allCases)
  func inputsAreRead(target: FuzzTarget) throws {
    let inputs = try FileManager.default.contentsOfDirectory(
      at: FuzzSeeds.repository.appendingPathComponent("Tests/Fuzzer/Corpus/\(target)"),
      includingPropertiesForKeys: nil)
    #expect(!inputs.isEmpty)
    for input in inputs { target.read([UInt8](try Data(contentsOf: input))) }
  }

  @Test func seedsOfEachTargetAreWritten() throws {
    let folder = try TestFolder()
    try FuzzSeeds(in: folder.url).write()
    for target in FuzzTarget.allCases {
      let seeds = try FileManager.default.contentsOfDirectory(
        at: folder.file("\(target)"), includingPropertiesForKeys: nil)
      #expect(!seeds.isEmpty, "\(target)")
      for seed in seeds { target.read([UInt8](try Data(contentsOf: seed))) }
    }
  }
}
