import ManagedModel
import Testing

/// Format strings of public code, one per line, in the shared data folder.
struct PredicateFormatFileTests {
  /// The number of formats, all of which can be parsed.
  static let parsing = 464

  @Test(.enabled(if: SharedFormats.isExpected, "the shared data folder is absent"))
  func everyPublicFormatRoundTrips() throws {
    let formats = try SharedFormats.load()
    #expect(formats.count == Self.parsing)
    var parsed = 0
    for format in formats {
      do {
        let predicate = try NSPredicate.parse(format)
        parsed += 1
        let printed = predicate.predicateFormat
        let again = try NSPredicate.parse(printed)
        #expect(again == predicate, "\(format) → \(printed) → \(again.predicateFormat)")
        #expect(again.hash == predicate.hash, "\(format)")
        #expect(again.predicateFormat == printed, "\(format)")
      } catch {
        Issue.record("\(format)\n\(error)")
      }
    }
    #expect(parsed == Self.parsing)
  }
}

/// The shared data folder: `CDPROF_SHARED`, or `shared` next to the package.
enum SharedFormats {
  private static var file: URL {
    let package = URL(filePath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let folder = ProcessInfo.processInfo.environment["CDPROF_SHARED"] ?? package + "/../shared"
    return URL(filePath: folder).appending(path: "data/predicate-formats.txt")
  }

  /// In CI, the folder is required.
  static var isExpected: Bool {
    ProcessInfo.processInfo.environment["CI"] == "true"
      || FileManager.default.fileExists(atPath: file.path)
  }

  /// The lines of `predicate-formats.txt` without its comments.
  static func load() throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map(String.init).filter { !$0.hasPrefix("#") }
  }
}
