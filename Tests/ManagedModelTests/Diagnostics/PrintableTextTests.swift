import Foundation
import Testing

@testable import ManagedModel

@Suite("Printable text")
struct PrintableTextTests {
  @Test(arguments: [
    ("plain ä 🇩🇪 👨‍👩‍👧 \t\n", "plain ä 🇩🇪 👨‍👩‍👧 \t\n"), ("\u{1B}[31mred", "\\u{1B}[31mred"),
    ("a\r\nb", "a\\r\nb"), ("\u{9B}2J\u{85}", "\\u{9B}2J\\u{85}"), ("\0\u{7F}", "\\u{0}\\u{7F}"),
    ("x\u{202E}y\u{2066}z\u{200F}", "x\\u{202E}y\\u{2066}z\\u{200F}"),
    ("\u{2028}\u{61C}\u{FFF9}\u{E0001}", "\\u{2028}\\u{61C}\\u{FFF9}\\u{E0001}"),
    ("e\u{301}\u{200D}", "e\u{301}\u{200D}"),
  ])
  func controlAndInvisibleCharactersAreEscaped(text: String, escaped: String) {
    #expect(PrintableText.escaped(text) == escaped)
    #expect(PrintableText.escaped(Array(text.utf8)) == Array(escaped.utf8))
    #expect(PrintableText.line(text) == escaped.replacing("\n", with: "\\n"))
  }

  @Test func bytesThatAreNotUTF8AreReplaced() {
    #expect(PrintableText.escaped([0x61, 0x9B, 0x32]) == Array("a\u{FFFD}2".utf8))
  }

  @Test func escapedJSONHasTheSameValue() throws {
    let text =
      String(
        String.UnicodeScalarView((0...0x2100).compactMap { Unicode.Scalar($0) }))
      + "\u{E0001}\u{FFFB}"
    let json = PrintableText.escaped(json: [UInt8](try JSONEncoder().encode([text])))
    #expect(try JSONDecoder().decode([String].self, from: Data(json)) == [text])
    #expect(
      String(decoding: json, as: UTF8.self).unicodeScalars.allSatisfy {
        !PrintableText.isUnsafe($0)
      })
  }

  @Test func fileErrorsUseTheSystemMessage() {
    #expect(FileErrorText.words(ENOSPC) == "no space left on device")
    let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(EROFS))
    for (error, text) in [
      (cause, "read-only file system"),
      (
        NSError(
          domain: NSCocoaErrorDomain, code: 512,
          userInfo: [NSUnderlyingErrorKey: cause, NSFilePathErrorKey: "/x"]),
        "/x: read-only file system"
      ),
      (NSError(domain: NSCocoaErrorDomain, code: 260), "no such file or directory"),
      (
        NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: "Its own."]), "Its own."
      ),
      (NSError(domain: "d", code: 7), "the system reports d error 7"),
    ] { #expect(FileErrorText.of(error) == text) }
  }
}
