import ArgumentParser
import Foundation

/// Measures all rows, prints the table, and writes JSON and the page.
struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure all rows. An exceeded limit is reported but isn't an error.")

  @Option(help: "The file to write JSON to.")
  var json: String?

  @Option(help: "The number of rows in the table.")
  var rows = 100_000

  @Option(help: "The number of rows in the large store for measuring growth; 0 skips growth.")
  var growthRows = 1_000_000

  @Option(help: "Measure only rows whose name contains this text.")
  var only: String?

  @Option(help: "The number of measured rounds, after one that's discarded.")
  var rounds = 7

  @Option(help: "The page whose measured part --write-documentation replaces.")
  var page = "Documentation/performance.md"

  @Flag(help: "Replace the measured part of the page.")
  var writeDocumentation = false

  @Flag(help: "Also measure SQLAlchemy, which must be installed for python3.")
  var peers = false

  @Flag(help: "Use the stores of the last run, if they exist.")
  var keepStores = false

  func validate() throws {
    guard rows >= 10_000 else { throw ValidationError("--rows must be at least 10000.") }
    guard rounds >= 1 else { throw ValidationError("--rounds must be at least 1.") }
  }

  func run() throws {
    let digest = writeDocumentation ? try Documentation.hotPathDigest() : nil
    var report = Report(machine: Machine(rows: rows, rounds: rounds))
    Measure.print(Table.header)
    let builder = try StoreBuilder.inTemporaryFolder()
    if !keepStores { try builder.clear() }
    if peers { try SQLAlchemyArms.check() }
    let bed = try Bed(rows: rows, builder: builder)
    let others = SQLAlchemyArms(builder: builder, url: bed.url)
    for entry in try Plan(bed).entries where chosen(entry.name) {
      var workload = try entry.make()
      if peers { workload.arms += others.arms(workload.name, operations: workload.operations) }
      let result = try Rounds.run(workload, count: rounds)
      let (floor, peers) = (Floor(result), Peer.all(in: result))
      Measure.print(Table.line(floor, peers))
      report.floors.append(floor)
      report.peers += peers
    }
    let rowsWithoutFloor = Plan.rowsWithoutFloor(rows: rows).filter { chosen($0.name) }
    for entry in rowsWithoutFloor + growth(builder) {
      for floor in try entry.make() {
        Measure.print(Table.line(floor))
        report.floors.append(floor)
      }
    }
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
    if let digest {
      try Documentation.write(report, digest: digest, to: URL(fileURLWithPath: page))
    }
  }

  private func growth(_ builder: StoreBuilder) -> [Plan.Row] {
    guard growthRows > 10_000 else { return [] }
    return [
      Growth(builder: builder, rows: growthRows, rounds: rounds).row,
      MigrationGrowth(builder: builder, rows: growthRows, rounds: rounds).row,
    ].filter { chosen($0.name) }
  }

  private func chosen(_ name: String) -> Bool {
    only.map { name.contains($0) } ?? true
  }

  private static func print(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
