import Foundation
import ModelCode
import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

/// An error as the program prints it, with its exit status.
struct Failure {
  /// For standard error.
  let text: String
  let status: ExitStatus

  /// Puts any error into words.
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
      status = .badInput
    case let occupied as GeneratedFolder.Occupied:
      text = occupied.description
      status = .runFailed
    case let law as CountExpressionError:
      text = law.description
      status = .badInput
    case let failure as StepFailure:
      text = ([failure.description] + ErrorText.details(of: failure.error))
        .joined(separator: "\n  ")
      // A request that cannot be carried out is the scenario's mistake.
      let error = failure.error as NSError
      let isRequest = error.domain == NSCocoaErrorDomain && error.code == NSCoreDataError
      status = isRequest || Failure.isDamage(error) ? .badInput : .runFailed
    default:
      text = ErrorText.of(error)
      status =
        type(of: error) is AnyClass || error is CocoaError
        ? Failure.status(of: error as NSError) : .internalError
    }
  }

  /// Whether a file that was read is corrupt: Cocoa's code for it, and SQLite's two.
  private static func isDamage(_ error: NSError) -> Bool {
    switch error.domain {
    case NSCocoaErrorDomain:
      error.code == CocoaError.Code.fileReadCorruptFile.rawValue
        || isDamage(code: error.userInfo[NSSQLiteErrorDomain])
    case NSSQLiteErrorDomain: isDamage(code: error.code)
    default: false
    }
  }

  /// Whether a result code of SQLite is `SQLITE_CORRUPT` or `SQLITE_NOTADB`.
  private static func isDamage(code: Any?) -> Bool {
    (code as? Int ?? (code as? NSNumber)?.intValue).map { [11, 26].contains($0 & 0xFF) } ?? false
  }

  /// The codes of stores and models that cannot be used are bad input; others are failed runs.
  private static func status(of error: NSError) -> ExitStatus {
    if isDamage(error) { return .badInput }
    guard error.domain == NSCocoaErrorDomain else { return .runFailed }
    switch error.code {
    case NSPersistentStoreInvalidTypeError...NSPersistentStoreIncompatibleSchemaError,
      NSPersistentStoreOpenError, NSPersistentStoreIncompatibleVersionHashError, NSSQLiteError,
      // A request that cannot be carried out, such as a predicate without SQL.
      NSCoreDataError:
      return .badInput
    case CocoaError.Code.fileReadNoSuchFile.rawValue, CocoaError.Code.fileNoSuchFile.rawValue,
      CocoaError.Code.fileReadNoPermission.rawValue:
      return .missingFile
    case CocoaError.Code.fileReadCorruptFile.rawValue:
      return .badInput
    default:
      return .runFailed
    }
  }
}
