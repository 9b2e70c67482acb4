import Foundation
import ModelCode
import OpenCoreData
import RunResults
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

/// An error message and its exit status.
struct Failure {
  /// The message to print on standard error.
  let text: String
  let status: ExitStatus

  /// Creates the message and the exit status of an error.
  init(_ error: any Error) {
    switch error {
    case let refusal as InvalidInputError:
      text = refusal.description
      status =
        switch refusal.kind {
        case .missing: .missingFile
        case .unusable: .badInput
        case .noSpace: .runFailed
        }
    case let failure as CommandFailure:
      text = failure.text()
      status = .badInput
    case let diagnostics as ScenarioDiagnostics:
      text = diagnostics.description
      status = .badInput
    case let errors as ModelErrors:
      text = errors.description
      status = errors.isUnreadable ? .missingFile : .badInput
    case let occupied as GeneratedFolder.Occupied:
      text = occupied.description
      status = .badInput
    case let formula as CountExpressionError:
      text = formula.description
      status = .badInput
    case let failure as StepFailure:
      text = ([failure.description] + ErrorText.details(of: failure.error))
        .joined(separator: "\n  ")
      // A request that can't be executed is an error in the scenario.
      let error = failure.error as NSError
      let isRequest = error.domain == NSCocoaErrorDomain && error.code == NSCoreDataError
      status = isRequest || Failure.isCorruption(error) ? .badInput : .runFailed
    case let error as SQLiteError:
      text = ErrorText.of(error)
      status = Failure.status(of: error.code) ?? .internalError
    default:
      text = ErrorText.of(error)
      status =
        type(of: error) is AnyClass || error is CocoaError
        ? Failure.status(of: error as NSError) : .internalError
    }
  }

  /// Returns whether an error reports a corrupt file: `fileReadCorruptFile`, `SQLITE_CORRUPT`, or
  /// `SQLITE_NOTADB`.
  private static func isCorruption(_ error: NSError) -> Bool {
    error.domain == NSCocoaErrorDomain
      && error.code == CocoaError.Code.fileReadCorruptFile.rawValue
      || resultCode(of: error)?.isOfCorruptFile == true
  }

  /// Returns the SQLite result code of an error, or `nil` if it has none.
  private static func resultCode(of error: NSError) -> ResultCode? {
    let code =
      switch error.domain {
      case NSSQLiteErrorDomain: error.code
      case NSCocoaErrorDomain: error.userInfo[NSSQLiteErrorDomain] as? Int
      default: Int?.none
      }
    return code.map { ResultCode(rawValue: Int32(truncatingIfNeeded: $0)) }
  }

  /// Returns the exit status of a SQLite result code that reports the state of a file or of the
  /// system, or `nil` for other codes.
  private static func status(of code: ResultCode) -> ExitStatus? {
    switch code.primary {
    case _ where code.isOfCorruptFile: .badInput
    case .cantOpen, .permission: .missingFile
    case .inputOutput where code.isOfReading: .missingFile
    case .busy, .inputOutput, .full, .readOnly, .outOfMemory: .runFailed
    default: nil
    }
  }

  /// Returns whether an error is about a file that the file system can't read to its end.
  ///
  /// **Cost:** reads the file.
  private static func isUnread(_ error: NSError) -> Bool {
    guard let path = error.userInfo[NSFilePathErrorKey] as? String else { return false }
    return StoreFileInspection.readingError(path: path)?.code.primary == .inputOutput
  }

  /// Returns the exit status of an error.
  ///
  /// Stores and models that can't be used, and corrupt files, are bad input; files that don't exist
  /// or can't be read are missing; every other error is a failed run.
  private static func status(of error: NSError) -> ExitStatus {
    if isCorruption(error) { return .badInput }
    if let status = resultCode(of: error).flatMap(status(of:)) { return status }
    guard error.domain == NSCocoaErrorDomain else { return .runFailed }
    switch error.code {
    case NSPersistentStoreOpenError where isUnread(error): return .missingFile
    case NSPersistentStoreInvalidTypeError...NSPersistentStoreIncompatibleSchemaError,
      NSPersistentStoreOpenError, NSPersistentStoreIncompatibleVersionHashError, NSSQLiteError,
      // A request that can't be executed, such as a predicate that can't be translated to SQL.
      NSCoreDataError:
      return .badInput
    case CocoaError.Code.fileReadNoSuchFile.rawValue, CocoaError.Code.fileNoSuchFile.rawValue,
      CocoaError.Code.fileReadNoPermission.rawValue, CocoaError.Code.fileReadUnknown.rawValue:
      return .missingFile
    default:
      return .runFailed
    }
  }
}
