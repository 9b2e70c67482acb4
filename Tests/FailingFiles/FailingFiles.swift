import CFailingFiles
package import Foundation

/// Failures of file operations and SQL statements on files below a folder, and of SQLite's memory
/// allocations, for tests.
///
/// All of them in the process are reached: those of SQLite, Foundation, and the tested code.
package enum FailingFiles {
  /// The kinds of operations; see `CFailingFiles.h`.
  package enum Kind: Int, CaseIterable, Sendable {
    case readOpen, writeOpen, create, read, write, sync, truncate, rename, link, remove, make
    case lock, close, list, attribute, status, statement, allocation
  }

  /// What fails, and how.
  package enum Cause: String, CaseIterable, Sendable {
    /// Any operation, with EIO; reading a file's attributes only if that kind is requested.
    case inputOutput
    /// Whatever requires space, with ENOSPC.
    case fullDisk
    /// A write, of which half of the bytes are written.
    case shortWrite
    /// Whatever changes a folder, with EACCES.
    case denied
    /// Whatever writes, with EROFS.
    case readOnly
    /// A statement that isn't executed, with SQLITE_IOERR.
    case statement
    /// A statement that isn't executed, with SQLITE_FULL.
    case fullStatement
    /// Memory that SQLite can't allocate.
    case memory

    /// The operations that fail.
    package var kinds: Set<Kind> {
      switch self {
      case .inputOutput: Set(Kind.allCases).subtracting([.status, .statement, .allocation])
      case .fullDisk: [.create, .write, .sync, .truncate, .rename, .link, .make]
      case .shortWrite: [.write]
      case .denied: [.create, .rename, .link, .remove, .make]
      case .readOnly: [.writeOpen, .create, .rename, .link, .remove, .make, .attribute]
      case .statement, .fullStatement: [.statement]
      case .memory: [.allocation]
      }
    }

    fileprivate var number: Int32 {
      switch self {
      case .inputOutput, .statement: EIO
      case .fullDisk, .fullStatement: ENOSPC
      case .shortWrite: FAILING_FILES_SHORT
      case .denied: EACCES
      case .readOnly: EROFS
      case .memory: ENOMEM
      }
    }
  }

  /// The operations that fail: one, or all from one on.
  package struct Failure: Sendable, CustomStringConvertible {
    package let cause: Cause
    /// The number of the first operation, from 1.
    package let first: Int
    package let isPermanent: Bool

    package init(_ cause: Cause, at first: Int, isPermanent: Bool = false) {
      (self.cause, self.first, self.isPermanent) = (cause, first, isPermanent)
    }

    package var description: String {
      "\(cause) \(isPermanent ? "from" : "at") \(first)"
    }
  }

  /// The operations that were counted.
  package struct Report: Sendable {
    package let counts: [Kind: Int]
    /// The number of operations that failed.
    package let failures: Int
    /// The first operation that failed, and its file; empty if there's none.
    package let firstFailure: String

    package var total: Int { counts.values.reduce(0, +) }
  }

  /// Whether failures are possible in this process; they aren't with a sanitizer.
  package static var isAvailable: Bool { failing_files_is_available() != 0 }

  /// The number of files that this thread has closed again after a close that failed.
  package static var closedAgain: Int { Int(failing_files_closed_again()) }

  /// Runs a body in which operations on files below a folder fail.
  ///
  /// - Parameters:
  ///   - folder: The folder; the one for temporary files contains everything that tests write.
  ///   - kinds: The operations to count; `nil` for those of the failure's cause.
  ///   - failure: What fails; `nil` to only count.
  ///   - countsAllThreads: Whether the operations of other threads are counted, too.
  package static func run<Value>(
    below folder: URL, counting kinds: Set<Kind>? = nil, failure: Failure? = nil,
    countsAllThreads: Bool = false, _ body: () throws -> Value
  ) -> (result: Result<Value, any Error>, report: Report) {
    let counted = kinds ?? failure?.cause.kinds ?? Set(Kind.allCases)
    let first = Int64(failure?.first ?? 0)
    let number = folder.resolvingSymlinksInPath().path.withCString { path in
      var rule = failing_files_rule(
        folder: path, this_thread: countsAllThreads ? 0 : 1,
        kinds: counted.reduce(0) { $0 | 1 << UInt32($1.rawValue) }, first: first,
        last: failure?.isPermanent == true ? .max : first, error: failure?.cause.number ?? 0)
      return failing_files_set(&rule)
    }
    precondition(number >= 0, "there are too many rules at the same time")
    let result = Result { try body() }
    var found = failing_files_report()
    failing_files_end(number, &found)
    return (result, Report(found))
  }
}

extension FailingFiles.Report {
  fileprivate init(_ found: failing_files_report) {
    counts = withUnsafeBytes(of: found.counts) { bytes in
      let numbers = bytes.bindMemory(to: Int64.self)
      return FailingFiles.Kind.allCases.reduce(into: [:]) { $0[$1] = Int(numbers[$1.rawValue]) }
    }
    failures = Int(found.failures)
    let path = withUnsafeBytes(of: found.failed_path) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let kind = FailingFiles.Kind(rawValue: Int(found.failed_kind))
    firstFailure =
      found.failures == 0
      ? "" : "\(kind.map { "\($0)" } ?? "") \(URL(fileURLWithPath: path).lastPathComponent)"
  }
}
