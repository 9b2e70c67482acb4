import Testing

@testable import ManagedModel

@Suite struct ModelDocumentTests {
  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func everyRealModelIsRead() throws {
    let paths = SharedData.paths(endingIn: ".xcdatamodel/contents")
    #expect(paths.count > 80)
    for path in paths {
      do {
        let model = try ModelDocument.read(url: SharedData.url(path))
        let text = try String(contentsOf: SharedData.url(path), encoding: .utf8)
        #expect(model.entities.count == text.components(separatedBy: "<entity ").count - 1)
        let properties = model.entities.flatMap(\.ownProperties).count
        let tags = ["<attribute ", "<relationship ", "<fetchedProperty "]
        let expected = tags.reduce(0) { $0 + text.components(separatedBy: $1).count - 1 }
        #expect(properties == expected, "\(path)")
      } catch {
        Issue.record("\(path): \(error)")
      }
    }
  }
}
