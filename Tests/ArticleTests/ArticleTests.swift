import Foundation
import Testing

/// The code of an article is code of a test of this folder, so it compiles, and does what the
/// article says.
@Suite("The code of the articles")
struct ArticleTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let sources = folder.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources")

  /// The pages of a documentation catalog.
  private static func pages(of module: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: sources.appendingPathComponent("\(module)/\(module).docc"),
      includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "md" }
  }

  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }

  /// The Swift code of a page, block by block.
  private static func code(of page: URL) throws -> [[String]] {
    try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
      .map { lines($0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex)) }
  }

  @Test func everyBlockIsInATest() throws {
    let tests = try FileManager.default.contentsOfDirectory(
      at: Self.folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "swift" }.map {
      Self.lines(try String(contentsOf: $0, encoding: .utf8))
    }
    var count = 0
    for module in ["OpenCoreData", "ManagedModel"] {
      for page in try Self.pages(of: module) {
        for block in try Self.code(of: page) {
          count += 1
          #expect(
            tests.contains { $0.contains(block) },
            "\(page.lastPathComponent): no test contains:\n\(block.joined(separator: "\n"))")
        }
      }
    }
    #expect(count > 10)
  }

  /// Every public class, structure, enumeration, and protocol is in a list of topics.
  @Test(arguments: ["OpenCoreData", "ManagedModel"])
  func everyTypeIsATopic(module: String) throws {
    let topics = try Self.pages(of: module).reduce(into: Set<String>()) { names, page in
      for match in try String(contentsOf: page, encoding: .utf8).matches(
        of: /- ``(?:\w+\/)?(\w+)``/)
      {
        names.insert(String(match.1))
      }
    }
    let files = FileManager.default.enumerator(
      at: Self.sources.appendingPathComponent(module), includingPropertiesForKeys: nil)
    let declaration =
      /^(?:@\w+(?:\([^)]*\))? )*(?:public|open) (?:final |indirect )?(?:class|struct|enum|protocol) (\w+)/
      .anchorsMatchLineEndings()
    var types = Set<String>()
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      for match in try String(contentsOf: file, encoding: .utf8).matches(of: declaration) {
        types.insert(String(match.1))
      }
    }
    #expect(types.count > 20)
    #expect(types.subtracting(topics).sorted() == [])
  }
}
