/// How large a store is.
package struct InspectedFiles: Sendable, Equatable {
  /// How the file was read so that nothing beside it changed.
  package enum Reading: String, Sendable {
    case file
    case writeAheadLog
    case privateCopy
  }

  /// Bytes of the database file.
  package var bytes: Int64
  /// Bytes of the `-wal` file; nil when there is none.
  package var logBytes: Int64?
  /// Pages in the log, those that a later frame replaces counted too; nil when there is none.
  package var logFrames: Int?
  /// Bytes of a page.
  package var pageSize: Int
  /// Pages, those of the log included.
  package var pages: Int
  /// Pages that hold nothing.
  package var freePages: Int
  package var reading: Reading
}
