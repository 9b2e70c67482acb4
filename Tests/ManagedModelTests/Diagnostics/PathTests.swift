import Testing

@testable import ManagedModel

@Suite("Paths without their last component")
struct PathTests {
  @Test(
    arguments: [
      ("", ""), ("a", ""), ("a/", ""), ("/", "/"), ("//", "/"), ("/a", "/"), ("é", ""),
      ("ab", ""), ("a/b", "a"), ("a/b/", "a"), ("/a/b", "/a"), ("./a", "."),
    ])
  func lastComponentIsDeleted(path: String, folder: String) {
    #expect(path.deletingLastPathComponent == folder)
    let call = NSPredicate(
      format: "FUNCTION(SELF, 'stringByDeletingLastPathComponent') == %@", folder)
    #expect(call.evaluate(with: path))
  }
}
