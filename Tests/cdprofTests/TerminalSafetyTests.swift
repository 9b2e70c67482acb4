import Foundation
import Testing

@Suite("Control characters from input are escaped")
struct TerminalSafetyTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Control characters and bidirectional formatting characters.
  private static let hostile: [UInt32] =
    [0x00, 0x01, 0x07, 0x08, 0x0B, 0x0C, 0x0D, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0x9D, 0x061C, 0x200E]
    + [0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069]

  /// Returns a string with these characters and a line feed that starts a fake line.
  private static func text(escaped: Bool, except: Set<UInt32> = []) -> String {
    let parts = hostile.filter { !except.contains($0) }.map { code in
      escaped
        ? "\\u" + String(format: "%04x", code)
        : Unicode.Scalar(code).map { String(Character($0)) } ?? ""
    }
    return "a" + parts.joined(separator: "x") + "[31m" + (escaped ? "\\n" : "\n") + "FAKE line"
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    hostile.contains(scalar.value) || (0x80...0x9F).contains(scalar.value)
      || scalar.value < 0x20 && scalar != "\n" && scalar != "\t"
  }

  private static func expectSafe(_ text: String, _ what: String) {
    // In HTML, a line feed is white space.
    let isPage = text.hasPrefix("<!doctype html>")
    let found = text.unicodeScalars.filter(isUnsafe).map { String($0.value, radix: 16) }
    #expect(found.isEmpty, "\(what): \(found)")
    #expect(isPage || !text.contains("\nFAKE"), "\(what): a value starts a line")
  }

  /// Creates a scenario and a model with these characters in all names and strings.
  private func makeData() throws {
    let model = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Thing" syncable="YES">
      <attribute name="text" optional="YES" attributeType="String"/>
      <attribute name="na&#x202e;me&#x9b;" optional="YES" attributeType="String"/>
      <userInfo><entry key="k&#x202e;" value="v&#x9b;&#10;FAKE line"/></userInfo>
      </entity>
      <entity name="Ev&#x202e;il&#x85;" syncable="YES">
      <attribute name="bad&#10;FAKE" optional="YES" attributeType="String" defaultValueString="&#x2066;"/>
      <relationship name="none&#x200f;" optional="YES" maxCount="1" destinationEntity="No&#x202e;"/>
      </entity>
      </model>
      """
    _ = try program.folder.write(model, to: "Evil.xcdatamodel/contents")
    let text = Self.text(escaped: true, except: [0])
    let yaml = """
      name: "name \(text)"
      model: Evil.xcdatamodel
      story: "story \(text)"
      data:
        Thing: {count: 3, text: {one of: ["value \(text)", "b"]}}
      variants:
        - name: "variant \(text)"
          expect: {selects: 7}
      steps:
        - fetch: Thing
          where: "text != \\"\(Self.text(escaped: true, except: [0, 0x0D, 0x2028, 0x2029, 0x85]))\\""
          as: things
        - {touch: things, read: text}
      """
    _ = try program.folder.write(yaml, to: "evil.yml")
  }

  /// Commands that read the scenario, its store, or its model.
  private static let commands = [
    "run evil.yml --plans --sql 4 --show-binds --out r", "report r/evil.json",
    "report r/evil.json --report html", "report r/evil.json --report md",
    "report r/evil.json --report junit", "compare r/evil.json r/evil.json",
    "rows r/evil.sqlite Thing", "rows r/evil.sqlite 'Ev\u{202E}il'", "inspect r/evil.sqlite",
    "doctor r/evil.sqlite", "model r/evil.sqlite", "model Evil.xcdatamodel",
    "model Evil.xcdatamodel --ddl",
    "model Evil.xcdatamodel --dot", "model Evil.xcdatamodel --xml",
    "model Evil.xcdatamodel --check",
    "diff Evil.xcdatamodel r/evil.sqlite", "generate Evil.xcdatamodel --out g",
    "advise evil.yml", "export evil.yml --swift", "new x --store r/evil.sqlite",
    "log evil.log", "log evil.log --show-binds --store r/evil.sqlite",
    "shell r/evil.sqlite < lines", "shell evil.yml < lines",
    "predicate $'a == \"\\e]0;x\\a\\u202e\"'", "predicate $'a \\e[31m\\u009b'", "$'\\e[31m\\nFAKE'",
    "run $'\\e[31m\\nFAKE'", "inspect $'no\\u202e\\nFAKE'", "rows r/evil.sqlite $'No\\e\\nFAKE'",
    "run evil.yml --report $'\\e\\nFAKE'", "run evil.yml --\\e[31m", "shell $'\\u009b.yml'",
    "help $'\\e'", "run evil.yml --variant $'\\e\\nFAKE'", "new $'\\e\\nFAKE'",
  ]

  @Test func everyCommandEscapesControlCharacters() throws {
    try makeData()
    let lines = ["fetch Thing as t", "touch t read text", "last", "findings", "entities", "stats"]
    let query = ".sqlite SELECT * FROM ZTHING"
    let modes = ["table", "json", "csv", "line"].flatMap { ["mode \($0)", query] }
    let wrong = [
      "fetch \u{1B}[31m\u{202E}", "\u{9B}31m", "fetch Thing where \"a \u{1B}\"", "open \u{1B}",
    ]
    _ = try program.folder.write(
      (["sql 4"] + lines + modes + wrong).joined(separator: "\n"), to: "lines")
    let values = Self.text(escaped: false)
    _ = try program.folder.write(
      """
      cdprof: begin \(values)
      CoreData: sql: SELECT 0, t0.Z_PK FROM ZTHING t0 WHERE t0.ZTEXT = '\(values)'
      CoreData: annotation: sql connection fetch time: 0.0002s
      CoreData: annotation: total fetch execution time: 0.0003s for 2 rows.
      CoreData: error: \(values)
      CoreData: unknown: \(values)
      """, to: "evil.log")
    let setUp = try program.run(["run", "evil.yml", "--report", "json", "--out", "r"])
    #expect(setUp.status == 2, "\(setUp.errors)")
    for command in Self.commands {
      let outcome = try program.bash("cdprof \(command)")
      let isCSV = command.contains("< lines")
      Self.expectSafe(
        isCSV ? outcome.output.replacingOccurrences(of: "\nFAKE line\"", with: "") : outcome.output,
        "\(command), output")
      Self.expectSafe(outcome.errors, "\(command), errors")
      #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty, "\(command)")
    }
  }

  @Test func jsonEscapesControlCharactersExactly() throws {
    try makeData()
    _ = try program.run(["run", "evil.yml", "--report", "json,trace,jsonl,otlp", "--out", "r"])
    for file in ["r/evil.json", "r/evil.trace.json", "r/evil.jsonl", "r/evil.otlp.json"] {
      Self.expectSafe(
        try String(contentsOf: program.folder.file(file), encoding: .utf8), file)
    }
    let value = "value " + Self.text(escaped: false, except: [0])
    let rows = try program.run(["rows", "r/evil.sqlite", "Thing", "--json"])
    Self.expectSafe(rows.output, "rows --json")
    let objects = try JSONSerialization.jsonObject(with: Data(rows.output.utf8)) as? [[String: Any]]
    let texts = objects?.compactMap { ($0["values"] as? [String: Any])?["text"] as? String }
    #expect(
      texts?.sorted { $0.utf8.count < $1.utf8.count }.last.map { Array($0.utf8) }
        == Array(value.utf8))
    let model = try program.run(["model", "Evil.xcdatamodel", "--json"])
    Self.expectSafe(model.output, "model --json")
    #expect(model.output.contains("na\\u202eme\\u009b"))
    let shell = try program.run(
      ["shell", "r/evil.sqlite"],
      input: "mode json\n.sqlite SELECT ZTEXT AS t FROM ZTHING WHERE Z_PK = 1")
    let body = shell.output.split(separator: "\n").drop { $0 != "[" }.joined()
    let table = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [[String: String]]
    #expect(table?.first?["t"].map { Array($0.utf8) } == Array(value.utf8))
  }

  @Test func xmlModelsKeepTheirNames() throws {
    try makeData()
    let xml = try program.run(["model", "Evil.xcdatamodel", "--xml"])
    _ = try program.folder.write(xml.output, to: "Copy.xcdatamodel/contents")
    let differences = try program.run(["diff", "Evil.xcdatamodel", "Copy.xcdatamodel", "--json"])
    #expect(differences.output.contains("\"effect\" : \"none\""), "\(differences.output)")
  }
}
