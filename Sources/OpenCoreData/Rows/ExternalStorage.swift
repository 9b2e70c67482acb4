import ManagedModel

/// Where a store keeps large binary values outside of its file, and how its rows name them.
///
/// A value of an attribute with `allowsExternalBinaryDataStorage` begins with a byte that says where
/// the rest is: 1, in the row itself; 2, in a file, whose name follows. The book's chapter 5.
package struct ExternalStorage: Sendable {
  /// The folder beside the store, `.NAME_SUPPORT/_EXTERNAL_DATA`.
  ///
  /// It need not exist.
  package let folder: URL

  /// The folder of a store's file.
  package init(storeURL: URL) {
    let name = storeURL.deletingPathExtension().lastPathComponent
    folder = storeURL.deletingLastPathComponent()
      .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
      .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    largestInRow = 100_000
  }

  /// Values of more bytes than this go into a file; up to it SQLite is faster.
  let largestInRow: Int

  /// The storage of a store in memory: every value stays in its row.
  static let inRows = ExternalStorage(
    folder: URL(fileURLWithPath: "/dev/null", isDirectory: false), largestInRow: .max)

  private init(folder: URL, largestInRow: Int) {
    self.folder = folder
    self.largestInRow = largestInRow
  }

  private static let inRow: UInt8 = 1
  private static let inFile: UInt8 = 2

  // MARK: What a column holds

  /// The bytes of a column for a value that is kept in the row.
  static func inRow(_ value: Data) -> Data {
    var bytes = Data(capacity: value.count + 1)
    bytes.append(inRow)
    bytes.append(value)
    return bytes
  }

  /// The bytes of a column for a value that is kept in a file.
  static func reference(to file: ExternalFile) -> Data {
    Data([inFile] + file.name.utf8)
  }

  /// The value that a column's bytes hold, `Data`, or the `ExternalFile` that they name.
  ///
  /// Bytes that begin otherwise are the value: they were written before the attribute was allowed
  /// to be kept outside.
  static func contents(_ bytes: Data) -> Any {
    if let file = ExternalFile(reference: bytes) { return file }
    return bytes.first == inRow ? Data(bytes.dropFirst()) : bytes
  }

  /// The name of the file that a column's bytes lead to; nil for a value in the row, and for bytes
  /// that name no file.
  package static func fileName(in bytes: [UInt8]) -> String? {
    ExternalFile(reference: Data(bytes))?.name
  }
}

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
