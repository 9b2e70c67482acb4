package import Foundation

/// An operation that runs in copies of a folder, each time with another failure.
///
/// `Prepared` is what's made in a copy before operations can fail, such as an open store with
/// unsaved changes.
package struct FailureSweep<Prepared> {
  /// The folder that's copied; it contains what the operation needs.
  private let template: URL
  let scratch: URL
  let prepare: (URL) throws -> Prepared
  let operation: (Prepared) throws -> Void
  private let complete = CompleteRun()

  /// One attempt.
  package struct Attempt {
    /// The copy of the folder, after the operation.
    package let folder: URL
    package let prepared: Prepared
    package let failure: FailingFiles.Failure
    /// The operation's error.
    package let error: (any Error)?
    package let report: FailingFiles.Report

    /// The failure, and the operation that failed first.
    package var description: String { "\(failure) (\(report.firstFailure))" }
  }

  /// Creates a sweep.
  ///
  /// - Parameters:
  ///   - template: The folder to copy.
  ///   - scratch: An existing folder for the copies.
  ///   - prepare: Gets the copy of the folder.
  ///   - operation: Its file operations in the folder for temporary files fail.
  package init(
    copying template: URL, into scratch: URL, preparing prepare: @escaping (URL) throws -> Prepared,
    _ operation: @escaping (Prepared) throws -> Void
  ) {
    (self.template, self.scratch) = (template, scratch)
    (self.prepare, self.operation) = (prepare, operation)
  }

  /// Runs the operation without a failure.
  ///
  /// The first run is the one whose operations `run` counts.
  /// - Returns: The copy of the folder, and the operations.
  package func withoutFailure() throws -> (folder: URL, report: FailingFiles.Report) {
    let folder = try copy()
    let prepared = try prepare(folder)
    let (result, report) = FailingFiles.run(below: Self.counted) { try operation(prepared) }
    try result.get()
    if complete.report == nil { complete.report = report }
    return (folder, report)
  }

  /// The operations of the first run without a failure.
  private func countedOperations() throws -> FailingFiles.Report {
    if let report = complete.report { return report }
    let (folder, report) = try withoutFailure()
    try FileManager.default.removeItem(at: folder)
    return report
  }

  /// Runs the operation with each failure of a cause, or a sample of them, once and permanently.
  ///
  /// Without a limit, it goes on until the operation completes without reaching the failure, and
  /// tries each allocation that `FailingFiles.allocations` selects.
  /// - Parameters:
  ///   - kinds: The operations that fail; `nil` for those of the cause.
  ///   - check: Gets each attempt; its folder is removed afterward.
  /// - Returns: The number of attempts.
  @discardableResult
  package func run(
    _ cause: FailingFiles.Cause, failing kinds: Set<FailingFiles.Kind>? = nil,
    limit: Int = FailingFiles.limit, check: (Attempt) throws -> Void
  ) throws -> Int {
    let counted = try countedOperations()
    let kinds = kinds ?? cause.kinds
    let total = kinds.reduce(0) { $0 + (counted.counts[$1] ?? 0) }
    var attempts = 0
    // A single failure is permanent for half of the causes.
    let isEven = FailingFiles.Cause.allCases.firstIndex(of: cause)?.isMultiple(of: 2) == true
    for isPermanent in limit == 1 ? [isEven] : [false, true] {
      if limit == .max {
        let (start, step) = cause == .memory ? FailingFiles.allocations : (1, 1)
        for first in stride(from: start, to: .max, by: step) {
          attempts += 1
          let failure = FailingFiles.Failure(cause, at: first, isPermanent: isPermanent)
          guard try attempt(failure, kinds, check) > 0 else { break }
        }
      } else {
        for first in Self.sample(of: total, limit, isShifted: isPermanent) {
          attempts += 1
          let failure = FailingFiles.Failure(cause, at: first, isPermanent: isPermanent)
          _ = try attempt(failure, kinds, check)
        }
      }
    }
    return attempts
  }

  private static var counted: URL { FileManager.default.temporaryDirectory }

  private func attempt(
    _ failure: FailingFiles.Failure, _ kinds: Set<FailingFiles.Kind>,
    _ check: (Attempt) throws -> Void
  ) throws -> Int {
    let folder = try copy()
    let prepared = try prepare(folder)
    let (result, report) = FailingFiles.run(
      below: Self.counted, counting: kinds, failure: failure
    ) { try operation(prepared) }
    var error: (any Error)?
    if case .failure(let thrown) = result { error = thrown }
    try check(
      Attempt(folder: folder, prepared: prepared, failure: failure, error: error, report: report))
    try? FileManager.default.removeItem(at: folder)
    return report.failures
  }

  /// Returns numbers from 1 to a total, in equal distances.
  ///
  /// - Parameter isShifted: Whether they're those between the numbers of another sample.
  static func sample(of total: Int, _ count: Int, isShifted: Bool) -> [Int] {
    let places = (0..<min(count, total)).map { index in
      (Double(index) + (isShifted ? 0.75 : 0.25)) * Double(total) / Double(min(count, total))
    }
    return places.map { min(Int($0) + 1, total) }
  }

  func copy() throws -> URL {
    let folder = scratch.appendingPathComponent(UUID().uuidString, isDirectory: true)
    try FileManager.default.copyItem(at: template, to: folder)
    return folder
  }
}

/// The operations of a run without a failure, which are the same for all causes.
private final class CompleteRun {
  var report: FailingFiles.Report?
}

extension FailureSweep where Prepared == URL {
  /// Creates a sweep of an operation that gets the copy of the folder.
  package init(
    copying template: URL, into scratch: URL, _ operation: @escaping (URL) throws -> Void
  ) {
    self.init(copying: template, into: scratch, preparing: { $0 }, operation)
  }
}

extension FailingFiles {
  /// How many of the possible failures are tried: `CDPROF_FAULTS`, which is a number for each
  /// cause, or `all`.
  package static var limit: Int {
    let text = ProcessInfo.processInfo.environment["CDPROF_FAULTS"]
    return text == "all" ? .max : max(text.flatMap { Int($0) } ?? 1, 1)
  }

  /// The limit of an operation that's so short that 30 failures of each cause take no longer than
  /// one of another.
  package static var limitOfShortOperations: Int { max(limit, 30) }

  /// The allocations that fail if all other failures are tried: `CDPROF_ALLOCATIONS`, the number of
  /// the first one and the distance to the next.
  static var allocations: (start: Int, step: Int) {
    let text = ProcessInfo.processInfo.environment["CDPROF_ALLOCATIONS"] ?? ""
    let numbers = text.split(separator: ",").compactMap { Int($0) }.filter { $0 > 0 }
    return numbers.count == 2 ? (numbers[0], numbers[1]) : (1, 1)
  }
}
