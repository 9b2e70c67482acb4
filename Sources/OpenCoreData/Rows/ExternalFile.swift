import ManagedModel

/// A file beside a store that holds one large value.
struct ExternalFile: Hashable, Sendable {
  /// A UUID, so that no path is ever made of what a row says.
  let name: String

  /// A name that no other file has.
  init() {
    name = UUID().uuidString
  }

  /// The file that a column's bytes name: a 2, the UUID, and a zero at the end or not; nil when they
  /// name none.
  init?(reference bytes: Data) {
    guard bytes.first == 2, (37...38).contains(bytes.count) else { return nil }
    let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    guard UUID(uuidString: name) != nil else { return nil }
    self.name = name
  }
}
