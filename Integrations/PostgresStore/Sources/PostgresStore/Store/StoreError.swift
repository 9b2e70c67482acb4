import OpenCoreData
import PostgresDriver

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the SQLSTATE, a string of five characters, in the errors of a PostgreSQL store.
public let PostgresSQLStateErrorKey = "PostgresSQLState"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the value `true` in the error of a save whose outcome isn't known: the connection was
/// lost during the COMMIT, and the server can't tell.
///
/// Reset the context, and read what was saved.
public let PostgresUnknownOutcomeErrorKey = "PostgresUnknownOutcome"

/// Makes the errors that a store throws.
enum StoreError {
  /// Returns an error of Core Data's domain.
  static func make(_ code: Int, _ message: String, _ info: [String: Any] = [:]) -> NSError {
    var info = info
    info[NSLocalizedDescriptionKey] = message
    return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
  }

  /// Returns an error of the server as one of Core Data: 134080 without a connection, 134090 after
  /// a timeout, or else a given code.
  static func make(_ error: any Error, otherwise code: Int) -> NSError {
    guard let error = error as? PostgresError else { return error as NSError }
    var info: [String: Any] = [:]
    info[PostgresSQLStateErrorKey] = error.sqlState
    if error.kind == .unknownOutcome { info[PostgresUnknownOutcomeErrorKey] = true }
    let code =
      switch error.kind {
      case .connection: NSPersistentStoreOpenError
      case .exhausted: NSPersistentStoreTimeoutError
      case .unknownOutcome: code
      case .statement: error.isTimeout ? NSPersistentStoreTimeoutError : code
      }
    return make(code, "PostgreSQL: \(error)", info)
  }
}
