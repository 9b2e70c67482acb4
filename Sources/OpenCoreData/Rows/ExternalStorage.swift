import ManagedModel

/// The external storage of a store: large binary values in separate files, and the references to
/// them in rows.
///
/// A value of an attribute with `allowsExternalBinaryDataStorage` begins with a marker byte: 1 if
/// the rest is the value, 2 if it's the name of an external data file. See the book's chapter 5.
package struct ExternalStorage: Sendable {
  /// The folder next to the store, `.NAME_SUPPORT/_EXTERNAL_DATA`.
  ///
  /// It needn't exist.
  package let folder: URL
  /// Whether written files and their names are synced to disk.
  let isSynced: Bool

  /// Creates the external storage of a store's file.
  ///
  /// - Parameter isSynced: Whether written files and their names are synced to disk.
  package init(storeURL: URL, isSynced: Bool = true) {
    self.isSynced = isSynced
    let name = storeURL.deletingPathExtension().lastPathComponent
    folder = storeURL.deletingLastPathComponent()
      .appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
      .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    largestInRow = Self.largestInRowOfFile
  }

  /// `largestInRow` of a store in a file.
  static let largestInRowOfFile = 100_000

  /// The maximum size in bytes of values in rows, for which SQLite is faster; larger ones are
  /// written to a file.
  let largestInRow: Int

  /// The storage of an in-memory store: every value stays in its row.
  static let inRows = ExternalStorage(
    folder: URL(fileURLWithPath: "/dev/null", isDirectory: false), largestInRow: .max)

  private init(folder: URL, largestInRow: Int) {
    self.folder = folder
    self.largestInRow = largestInRow
    isSynced = false
  }

  private static let inRow: UInt8 = 1
  private static let inFile: UInt8 = 2

  // MARK: Column values

  /// Returns a column's bytes for a value in the row.
  static func inRow(_ value: Data) -> Data {
    var bytes = Data(capacity: value.count + 1)
    bytes.append(inRow)
    bytes.append(value)
    return bytes
  }

  /// Returns a column's bytes for a value in a file.
  static func reference(to file: ExternalFile) -> Data {
    Data([inFile] + file.name.utf8)
  }

  /// Returns the value of a column's bytes, `Data`, or the `ExternalFile` that they refer to.
  ///
  /// Bytes without a marker are the value: they were written before the attribute allowed external
  /// storage.
  static func contents(_ bytes: Data) -> Any {
    if let file = ExternalFile(reference: bytes) { return file }
    return bytes.first == inRow ? Data(bytes.dropFirst()) : bytes
  }

  /// Returns the name of the file that a column's bytes refer to; `nil` for a value in the row, and
  /// for bytes without a file name.
  package static func fileName(in bytes: [UInt8]) -> String? {
    ExternalFile(reference: Data(bytes))?.name
  }
}

/// An external data file with one large value.
struct ExternalFile: Hashable, Sendable {
  /// A UUID, so that a row's contents are never used as a path.
  let name: String

  /// Creates a unique name.
  init() {
    name = UUID().uuidString
  }

  /// Creates the file that a column's bytes refer to: a 2, the UUID, and optionally a zero; `nil`
  /// if they aren't a reference.
  init?(reference bytes: Data) {
    guard bytes.first == 2, (37...38).contains(bytes.count) else { return nil }
    let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    guard UUID(uuidString: name) != nil else { return nil }
    self.name = name
  }
}
