#if Workbench
  import CFloor
  import Foundation
  import Recording

  /// Reading a SQL log, compared with a C program that finds the lines, times, and different
  /// statements of the same file.
  struct LogWorkloads {
    let bed: Bed

    func level1() throws -> Workload { try workload(level: 1) }

    func level3() throws -> Workload { try workload(level: 3) }

    private func workload(level: Int) throws -> Workload {
      let url = bed.builder.folder.appendingPathComponent("level-\(level).log")
      let size = try LogWriter(level: level, statements: 300).write(requests: bed.rows, to: url)
      let found = try LogReading.counts(of: url.path)
      var expected = cfloor_log()
      guard cfloor_read_log(url.path, &expected) == 0, found.lines == expected.lines,
        found.statements == expected.statements, found.executions == expected.executions
      else { throw BenchError("C and LogReader count different lines or statements") }
      return Workload(
        name: "log, level \(level)", unit: "line", operations: found.lines, limit: 2.5,
        arms: [
          Arm(program: .floor) {
            let (result, time) = timed {
              var log = cfloor_log()
              return cfloor_read_log(url.path, &log)
            }
            guard result == 0 else { throw BenchError("the floor can't read \(url.path)") }
            return time
          },
          Arm(program: .ours) { try timed { use(try LogReading.counts(of: url.path)) }.time },
        ],
        note:
          "\(size >> 10) KiB, \(found.statements) different statements. The floor adds up times; "
          + "the reader also assigns times, rows, faults, and values to statements and threads, and "
          + "detects fault storms.")
    }
  }
#endif
