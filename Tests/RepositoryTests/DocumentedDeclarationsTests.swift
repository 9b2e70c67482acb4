import Foundation
import Testing

@Suite("Doc comments of public and package declarations")
struct DocumentedDeclarationsTests {
  @Test func everyDeclarationIsDocumented() {
    var count = 0
    for file in Repository.sources {
      let scanner = DeclarationScanner(file: file)
      count += scanner.declarations.count
      for declaration in scanner.declarations where !scanner.isDocumented(declaration) {
        Issue.record("\(file.location(declaration.line)): \(declaration.text)")
      }
    }
    #expect(count > 50)
  }

  @Test(
    "distinguishes documented and undocumented declarations",
    arguments: [
      ("/// Prints it.\npackage func a() {}", 0),
      ("package func a() {}", 1),
      ("public struct A {\n  public let b: Int\n}", 2),
      ("/// Prints it.\n// Guarded by b.\n@inlinable\npublic func a() {}", 0),
      ("/// A.\npublic var a = 0\npublic var b = 0\n\npublic var c = 0", 1),
      ("/// A.\npackage struct A {\n  package let b: Int\n}", 0),
      ("/// A.\npackage struct A {\n  package var b: Int { 1 }\n}", 1),
      ("/// A.\nstruct A {\n  let b: Int\n  package init(_ b: Int) {}\n}", 0),
      ("/// A.\nstruct A {\n  package init(file: Int) {}\n}", 1),
      ("/// A.\npublic class A {\n  public override func b() {}\n}", 0),
      ("package static func < (a: A, b: A) -> Bool {\n  true\n}", 0),
      ("package import B\nprivate func a() {}\nfunc b() {}", 0),
    ])
  func findsUndocumentedDeclarations(text: String, undocumented: Int) {
    let scanner = DeclarationScanner(file: SourceFile(path: "Sources/A/A.swift", text: text))
    #expect(
      scanner.declarations.filter { !scanner.isDocumented($0) }.count == undocumented)
  }
}
