package import Foundation

/// What the doctor found.
///
/// Values only; made by `StoreDoctor`, printed by `DoctorText` and `DoctorJSON`.
package struct DoctorReport: Sendable {
  package var url: URL
  /// Whether the store carries no model that can be read: attributes and relationships are then
  /// guessed from the tables, and what only a model tells is not looked at.
  package var isGuessed: Bool
  /// In the order of the rules.
  package var findings: [DoctorFinding]

  /// Whether nothing is wrong.
  package var isSound: Bool { findings.isEmpty }
}
