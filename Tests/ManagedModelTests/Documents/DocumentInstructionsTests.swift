import Foundation
import Testing

@testable import ManagedModel

/// On Linux, Foundation's parser crashes for an instruction without data, and for an XML
/// declaration that isn't closed and has an encoding that libxml2 can't switch to.
@Suite("Processing instructions in XML documents")
struct DocumentInstructionsTests {
  private static let entity = "<entity name=\"Mood\"/>"

  @Test(arguments: [
    "<model><?pi?>\(entity)</model>", "<?pi?>\n<model>\(entity)</model><?pi?>",
    "<?xml version=\"1.0\"?><?pi?><model><?a b?><?xm?>\(entity)<?pi?></model>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE model><?pi?><model>\(entity)</model>",
    "<model><!-- <?pi?> -->\(entity)</model>",
  ])
  func instructionsAreIgnored(document: String) throws {
    for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16] {
      let text = encoding == .utf8 ? document : document.replacing("encoding=\"UTF-8\"", with: "")
      let model = try ModelDocument.read(
        data: try #require(text.data(using: encoding)), file: "Zoo")
      #expect(model.entitiesByName["Mood"] != nil)
    }
  }

  @Test(arguments: [
    ("<model>\n <?pi</model>", "2:"), ("<model a=\"<?pi?>\"/>", "1:"),
    ("<model>\n<?xml?></model>", "2:"), ("<model a<?xml version=\"1.0\"?>\n<?pi?>", "1:"),
    ("<model><?pi?>\n<entity></model>", "2:"),
    ("<?xml version=\"1.0\" encoding=\"UTF-7\" standalone=\"yes\">\n<model/>", "1:1"),
    ("<!DOCTYPE model [<?pi?>]><model/>", "1:17"),
    ("<!DOCTYPE model SYSTEM \"[\" [<!NOTATION a SYSTEM \"b\">]><model/>", "1:28"),
  ])
  func positionsOfErrorsAreThoseOfTheDocument(document: String, position: String) {
    let error = #expect(throws: ModelErrors.self) {
      try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    }
    #expect(
      error?.errors.first?.description.hasPrefix("Zoo:\(position)") == true,
      "\(error?.errors.first?.description ?? "")")
  }

  @Test func charactersAreUnchanged() throws {
    let bytes = try DocumentEncoding.utf8(
      Data("<a><![CDATA[<?pi?>]]>é<?é?>\n</a>".utf8), file: "a.xml")
    #expect(String(decoding: bytes, as: UTF8.self) == "<a><![CDATA[<?pi?>]]>é      \n</a>")
  }

  @Test("Only the attributes of a tag count toward their limit")
  func textDoesNotCountAsAttributes() throws {
    let signs = String(repeating: "' = ", count: 10_001)
    let text = "<a><!-- <a \(signs) --><![CDATA[<a \(signs)]]>\(signs)<b c=\"\(signs)\"/></a>"
    #expect(try DocumentEncoding.utf8(Data(text.utf8), file: "a.xml") == Array(text.utf8))
    let tag = "<a>\n<b \((0...10_000).map { "a\($0)='='" }.joined(separator: " "))/></a>"
    let error = #expect(throws: ModelErrors.self) {
      try DocumentEncoding.utf8(Data(tag.utf8), file: "a.xml")
    }
    #expect(error?.errors.first?.line == 2)
  }

  /// The parser would find an encoding in which other bytes are an instruction.
  @Test(arguments: [
    Data([0, 0, 0, 0x3C]), Data("<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>".utf8),
    Data(
      ("<?xml version=\"1.0\" " + String(repeating: " ", count: 2_000)
        + "encoding=\"UTF-7\"?><model/>").utf8),
  ])
  func encodingsThatCanHideInstructionsAreErrors(data: Data) {
    #expect(throws: ModelErrors.self) { try ModelDocument.read(data: data, file: "Zoo") }
  }
}
