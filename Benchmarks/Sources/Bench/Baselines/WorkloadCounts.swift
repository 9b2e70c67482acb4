/// The reproducible counts of a workload.
struct WorkloadCounts: Codable {
  /// The name of the row.
  let name: String
  let rows: Int
  let operations: Int
  /// The number of statements of all operations, not including transactions.
  ///
  /// Compared exactly.
  let statements: Int
  /// The number of rows that the statements returned.
  ///
  /// Compared exactly.
  let stepped: Int
  /// The number of allocated blocks per operation.
  ///
  /// Compared within 0.01.
  let allocations: Double
  /// The number of instructions per operation, including those in libraries, or `nil` if they
  /// weren't counted.
  ///
  /// Compared within 5%.
  var instructions: Double?

  /// Returns a description of each difference from stored counts.
  ///
  /// - Parameters:
  ///   - stored: The stored counts.
  ///   - withSameLibraries: Whether allocations and instructions can be compared.
  func differences(from stored: WorkloadCounts, withSameLibraries: Bool) -> [String] {
    var found: [String] = []
    if statements != stored.statements {
      found.append("\(statements) statements, \(stored.statements) stored")
    }
    if stepped != stored.stepped { found.append("\(stepped) rows, \(stored.stepped) stored") }
    guard withSameLibraries else { return found }
    if abs(allocations - stored.allocations) > 0.01 {
      found.append(
        "\(Table.number(allocations)) allocations per operation, "
          + "\(Table.number(stored.allocations)) stored")
    }
    if let instructions, let before = stored.instructions,
      abs(instructions / before - 1) > 0.05
    {
      found.append(
        "\(Table.number(instructions)) instructions per operation, "
          + "\(Table.number(before)) stored")
    }
    return found
  }
}
