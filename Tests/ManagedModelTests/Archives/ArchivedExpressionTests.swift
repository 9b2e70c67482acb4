import Testing

@testable import ManagedModel

@Suite struct ArchivedExpressionTests {
  /// The expressions of a document's Base64-encoded archives.
  static func texts(_ path: String) throws -> [String] {
    let document = try String(contentsOf: SharedData.url(path), encoding: .utf8)
    return try document.components(separatedBy: ">").compactMap { piece in
      let text = piece.prefix { $0 != "<" }.filter { !$0.isWhitespace }
      guard text.count > 400, let data = Data(base64Encoded: text), data.count < 2_000 else {
        return nil
      }
      let archive = try KeyedArchive(Array(data))
      return ArchivedExpression(in: archive.root, archive).text
    }
  }

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func archivedExpressionsOfARealMappingModelAreRead() throws {
    let texts = try Self.texts("moody/Moody 4-Moody 5.xcmappingmodel/xcmapping.xml")
    #expect(texts == ["$source.continent.numericISO3166Code"])
  }
}
