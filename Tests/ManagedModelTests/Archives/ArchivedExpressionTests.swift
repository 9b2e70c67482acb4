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

  /// The arguments of a function can be one object many times.
  @Test(arguments: [(3, 2, "f:(aa, aa, aa)"), (5_000, 1_000, "")])
  func longFormulasAreOmitted(count: Int, length: Int, text: String) throws {
    let key = String(repeating: "a", count: length)
    let archive = try KeyedArchive(
      BinaryPropertyList.write(
        .dictionary([
          "$top": .dictionary(["root": .uid(1)]),
          "$objects": .array([
            .string("$null"),
            .dictionary([
              "$class": .uid(2), "NSSelectorName": .string("f:"), "NSArguments": .uid(3),
            ]),
            .dictionary(["$classname": .string("NSFunctionExpression")]),
            .array(Array(repeating: .uid(4), count: count)),
            .dictionary(["$class": .uid(2), "NSKeyPath": .string(key)]),
          ]),
        ])))
    #expect(ArchivedExpression(in: archive.root, archive).text == text)
  }
}
