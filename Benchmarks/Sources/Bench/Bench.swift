import Foundation

@main
struct Bench {
  static func main() throws {
    let rows = 100_000
    let rounds = Int(ProcessInfo.processInfo.environment["ROUNDS"] ?? "5") ?? 5
    let only = CommandLine.arguments.dropFirst().first
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cdprof-bench")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let builder = StoreBuilder(folder: folder, model: BenchModel.make())
    let bed = try Bed(rows: rows, builder: builder)
    let fetches = FetchWorkloads(bed: bed)
    let all: [() throws -> Workload] = [
      fetches.materialised, fetches.faults, fetches.warm, fetches.identities,
      FaultWorkloads(bed: bed).fromDatabase, PrefetchWorkload(bed: bed).make,
      InsertWorkload(builder: builder, count: rows / 2).make,
    ]
    for make in all {
      let workload = try make()
      if let only, !workload.name.contains(only) { continue }
      let result = try Rounds.run(workload, count: rounds)
      var line = workload.name.padding(toLength: 40, withPad: " ", startingAt: 0)
      for time in result.times {
        line += String(
          format: "  %@ %.0f/%.0f", time.program.rawValue, time.minimum, time.median)
      }
      line += String(
        format: "  ratio %.2f (medians %.2f)", result.ratio(.ours) ?? 0,
        result.medianRatio(.ours) ?? 0)
      if let limit = workload.limit { line += "  limit \(limit)" }
      if let peer = result.ratio(.grdb) { line += String(format: "  GRDB %.2f", peer) }
      FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
  }
}
