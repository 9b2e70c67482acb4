import WorkbenchText

/// How much a finding of `doctor` matters to the app that uses the store.
package enum DoctorSeverity: String, CaseIterable, Sendable, Comparable {
  /// Space or time is wasted.
  case note
  /// Data is intact, but the store works slower than it should, in an undefined order, or with
  /// wrong history.
  case warning
  /// Data is lost or wrong, or a fetch or a save fails.
  case error

  package static func < (first: DoctorSeverity, second: DoctorSeverity) -> Bool {
    first.rank < second.rank
  }

  private var rank: Int {
    switch self {
    case .note: 0
    case .warning: 1
    case .error: 2
    }
  }
}

extension DoctorRuleName {
  /// The severity of the rule's findings, unless a finding has its own.
  package var severity: DoctorSeverity {
    switch self {
    case .externalFileUnowned, .indexRedundant: .note
    case .indexMissing, .orderPlace, .history: .warning
    case .integrity, .metadata, .model, .entityList, .entityNumber, .keyMaximum, .valueType,
      .missingValue, .danglingKey, .orphanedJoin, .oneSidedInverse, .externalFileMissing,
      .externalPrefix, .triggerMissing, .duplicateValues, .derivedValue:
      .error
    }
  }
}

extension DoctorReport {
  /// Returns whether the findings fail the check: errors do, and others only if it's strict.
  package func fails(strictly isStrict: Bool) -> Bool {
    findings.contains { isStrict || $0.severity == .error }
  }

  /// The number of findings of each severity, the most severe first: `1 error, 2 notes`.
  package var severities: String {
    DoctorSeverity.allCases.reversed().compactMap { severity in
      let count = findings.count { $0.severity == severity }
      return count == 0 ? nil : NumberText.counted(count, severity.rawValue)
    }
    .joined(separator: ", ")
  }
}
