/// What one operation may cost, in counts that repeat.
struct Gate: Codable {
  /// The row of the benchmark.
  let name: String
  let rows: Int
  let operations: Int
  /// Statements of all operations together, transactions apart.
  ///
  /// Compared exactly.
  let statements: Int
  /// Rows that these statements gave.
  ///
  /// Compared exactly.
  let stepped: Int
  /// Blocks allocated for one operation.
  ///
  /// Compared to a hundredth.
  let allocations: Double
  /// Instructions of one operation, the libraries' included; nil when they were not counted.
  ///
  /// Compared within 5 %.
  var instructions: Double?

  /// What differs from a stored gate, in sentences.
  ///
  /// - Parameter withSameLibraries: Whether blocks and instructions can be compared.
  func differences(from stored: Gate, withSameLibraries: Bool) -> [String] {
    var found: [String] = []
    if statements != stored.statements {
      found.append("\(statements) statements, \(stored.statements) stored")
    }
    if stepped != stored.stepped { found.append("\(stepped) rows, \(stored.stepped) stored") }
    guard withSameLibraries else { return found }
    if abs(allocations - stored.allocations) > 0.01 {
      found.append(
        "\(Table.number(allocations)) allocations an operation, "
          + "\(Table.number(stored.allocations)) stored")
    }
    if let instructions, let before = stored.instructions,
      abs(instructions / before - 1) > 0.05
    {
      found.append(
        "\(Table.number(instructions)) instructions an operation, "
          + "\(Table.number(before)) stored")
    }
    return found
  }
}
