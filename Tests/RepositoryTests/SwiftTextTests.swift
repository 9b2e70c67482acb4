import Testing

@Suite("Source scanner")
struct SwiftTextTests {
  @Test(
    "removes comments and literals, keeps code and line breaks",
    arguments: [
      ("let a = 1 // sqlite3_open", "let a = 1 "),
      ("let a = \"// no\" + b", "let a = \"\" + b"),
      ("a /* one /* two */ three */ b", "a  b"),
      ("a /* one\ntwo */ b", "a \n b"),
      ("\"x \\(call(\"y\")) z\" + b", "\"(call(\"\"))\" + b"),
      ("\"\"\"\n  fatalError \" more\n  \"\"\"; b", "\"\n\n\"; b"),
      ("#\"raw \" \\(still raw) \\#(code)\"# + b", "\"(code)\" + b"),
      ("\"\\\"\" + b", "\"\" + b"),
      ("\"\" + b", "\"\" + b"),
      ("#if DEBUG\nb\n#endif", "#if DEBUG\nb\n#endif"),
    ])
  func removesCommentsAndLiterals(text: String, code: String) {
    #expect(SwiftText.code(of: text) == code)
  }
}
