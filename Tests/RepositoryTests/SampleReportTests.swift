import Foundation
import Testing

@Suite("The sample report matches a new run")
struct SampleReportTests {
  /// Keys whose values depend on the machine.
  private static let machineDependentKeys: Set<String> = [
    "nanoseconds", "processorNanoseconds", "time", "environment", "plan", "verdict", "at", "offset",
    "marks", "thread",
    "object", "remarks", "work", "estimatedRows", "spans", "store",
  ]

  @Test func sampleHasTheCountsOfANewRun() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "sample-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (status, _) = try BuiltProgram.output(of: [
      "run", "Scenarios/mood-list.yml", "--quiet", "--report", "json", "--out", folder.path,
    ])
    #expect(status == 0)
    let fresh = try Self.counts(Data(contentsOf: folder.appending(path: "mood-list.json")))
    let sample = try Self.counts(Data(Repository.text(of: "Reports/samples/mood-list.json").utf8))
    #expect(fresh == sample, "the sample is out of date: run `make samples`")
  }

  /// The HTML page contains the verdict and variants of the JSON result.
  @Test func samplePageContainsTheVariantsOfTheResult() throws {
    struct Result: Decodable {
      struct Variant: Decodable { let name: String }
      let verdict: String
      let variants: [Variant]
    }
    let page = try Repository.text(of: "Reports/samples/mood-list.html")
    let data = Data(try Repository.text(of: "Reports/samples/mood-list.json").utf8)
    let result = try JSONDecoder().decode(Result.self, from: data)
    #expect(page.contains(result.verdict))
    #expect(result.variants.count == 4)
    for variant in result.variants { #expect(page.contains(variant.name)) }
  }

  /// Returns the result as JSON with sorted keys, without the machine-dependent ones.
  private static func counts(_ json: Data) throws -> String {
    let value = strip(try JSONSerialization.jsonObject(with: json))
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .prettyPrinted]
    return String(
      decoding: try JSONSerialization.data(withJSONObject: value, options: options),
      as: UTF8.self)
  }

  private static func strip(_ value: Any) -> Any {
    switch value {
    case let object as [String: Any]:
      object.filter { !machineDependentKeys.contains($0.key) }.mapValues(strip)
    case let list as [Any]: list.map(strip)
    default: value
    }
  }
}
