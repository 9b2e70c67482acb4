import Foundation
import ProfileEvents
import RunResults
import WorkbenchText

/// A result as Chrome trace events, which Perfetto and `chrome://tracing` open.
///
/// Each variant is a process that starts at 0, with tracks for steps, fetches, saves, faults,
/// misses, statements, and other events, and with cumulative counters. Events on a track must be
/// nested, so overlapping events of several contexts are drawn on additional tracks. The report
/// doesn't contain bound values or the paths of stores.
enum TraceReport {
  /// Returns a JSON object with `traceEvents`, one event per line.
  static func data(_ result: RunResult) -> Data {
    data(about: about(result), result.variants)
  }

  /// Returns a trace with a process for each variant.
  ///
  /// - Parameters:
  ///   - fields: What the trace is about; its key `cdprof` marks the file.
  ///   - variants: The processes.
  static func data(about fields: JSONFields, _ variants: [VariantResult]) -> Data {
    var data = Data("{\"displayTimeUnit\":\"ns\",\n\"otherData\":\(fields.object),\n".utf8)
    data += Data("\"traceEvents\":[\n".utf8)
    var isFirst = true
    for (index, variant) in variants.enumerated() {
      for line in TraceProcess(variant, number: index + 1).lines {
        if !isFirst { data += Data(",\n".utf8) }
        isFirst = false
        data += Data(line.utf8)
      }
    }
    data += Data("\n]}\n".utf8)
    return data
  }

  private static func about(_ result: RunResult) -> JSONFields {
    var fields = JSONFields()
    fields.add("scenario", result.scenario)
    fields.add("file", result.file)
    fields.add("seed", result.seed)
    fields.add("scale", result.scale)
    fields.add("verdict", result.summary)
    fields.add("cdprof", result.environment.cdprof)
    fields.add("sqlite", result.environment.sqlite)
    fields.add("engine", result.engine?.text)
    fields.add("machine", result.environment.machine)
    fields.add("build", result.environment.build)
    fields.add("jobs", result.environment.jobs)
    return fields
  }
}

/// A variant of a trace: its events, the names of its tracks, and its counters.
struct TraceProcess {
  /// The events, one per line, without separators.
  private(set) var lines: [String] = []
  private let number: Int
  /// The end times of the open events, for each track and its additional rows.
  private var open: [TraceTrack: [[UInt64]]] = [:]
  private var counted: [Metric: Int] = [:]

  init(_ variant: VariantResult, number: Int) {
    self.number = number
    let left = variant.timeline.leftOut
    let cut = left == 0 ? "" : " (without the last \(NumberText.counted(left, "event")))"
    name("process_name", variant.name + cut, track: nil)
    order("process_sort_index", number, track: nil)
    var samples: [(at: UInt64, metric: Metric, value: Int)] = []
    for step in variant.steps {
      var arguments = JSONFields()
      arguments.add("location", "\(step.location.file):\(step.location.line)")
      arguments.add("summary", step.summary)
      let mark = Timeline.Mark(
        begin: step.offset, duration: step.costs.nanoseconds, rows: 0)
      draw(mark, step.text, "step", arguments, on: .steps)
    }
    for (lane, mark) in variant.timeline.events {
      let arguments = TraceProcess.arguments(lane, mark)
      for track in TraceTrack.all(of: lane) {
        draw(mark, lane.title, lane.kind.rawValue, arguments, on: track)
      }
      for (metric, amount) in TraceProcess.counts(lane, mark) {
        samples.append((mark.end, metric, amount))
      }
    }
    for sample in samples.enumerated().sorted(by: {
      ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
    }).map(\.element) {
      count(sample.metric, sample.value, at: sample.at)
    }
  }

  /// Draws an event on the first row of a track where it's nested in the open events or follows
  /// them.
  private mutating func draw(
    _ mark: Timeline.Mark, _ name: String, _ category: String, _ arguments: JSONFields,
    on track: TraceTrack
  ) {
    var rows = open[track] ?? []
    var row = 0
    while row < rows.count {
      rows[row].removeAll { $0 <= mark.begin }
      guard let end = rows[row].last, end < mark.end else { break }
      row += 1
    }
    if row == rows.count {
      rows.append([])
      introduce(track, row: row)
    }
    rows[row].append(mark.end)
    open[track] = rows
    var fields = header("X", name, id(of: track, row: row))
    fields.add("cat", category)
    fields.add("ts", microseconds: mark.begin)
    fields.add("dur", microseconds: mark.duration)
    fields.add("args", arguments)
    lines.append(fields.object)
  }

  private mutating func count(_ metric: Metric, _ amount: Int, at time: UInt64) {
    counted[metric, default: 0] += amount
    var fields = header("C", metric.rawValue, 0)
    fields.add("ts", microseconds: time)
    var arguments = JSONFields()
    arguments.add("count", counted[metric])
    fields.add("args", arguments)
    lines.append(fields.object)
  }

  private mutating func introduce(_ track: TraceTrack, row: Int) {
    let id = id(of: track, row: row)
    name("thread_name", row == 0 ? track.name : "\(track.name) (\(row + 1))", track: id)
    order("thread_sort_index", id, track: id)
  }

  private mutating func name(_ what: String, _ name: String, track: Int?) {
    var fields = header("M", what, track ?? 0)
    var arguments = JSONFields()
    arguments.add("name", name)
    fields.add("args", arguments)
    lines.append(fields.object)
  }

  private mutating func order(_ what: String, _ index: Int, track: Int?) {
    var fields = header("M", what, track ?? 0)
    var arguments = JSONFields()
    arguments.add("sort_index", index)
    fields.add("args", arguments)
    lines.append(fields.object)
  }

  private func header(_ phase: String, _ name: String, _ track: Int) -> JSONFields {
    var fields = JSONFields()
    fields.add("ph", phase)
    fields.add("name", name)
    fields.add("pid", number)
    fields.add("tid", track)
    return fields
  }

  /// Returns the ID of a row of a track; IDs are in the order of the tracks.
  private func id(of track: TraceTrack, row: Int) -> Int { track.rawValue * 100 + min(row, 99) }

  private static func arguments(_ lane: Timeline.Lane, _ mark: Timeline.Mark) -> JSONFields {
    var fields = JSONFields()
    fields.add("rows", mark.rows)
    fields.add("object", lane.uri(of: mark))
    fields.add("context", lane.context)
    fields.add("source", lane.source?.rawValue)
    fields.add("sql", lane.sql)
    fields.add("location", lane.callSite.map { "\($0.file):\($0.line)" })
    return fields
  }

  /// Returns the counters that an event increments, with their increments.
  private static func counts(
    _ lane: Timeline.Lane, _ mark: Timeline.Mark
  ) -> [(Metric, Int)] {
    switch (lane.kind, lane.statement, lane.source) {
    case (.statement, .select?, _): [(.selects, 1), (.rows, mark.rows)]
    case (.statement, .insert?, _): [(.inserts, 1)]
    case (.statement, .update?, _): [(.updates, 1)]
    case (.statement, .delete?, _): [(.deletes, 1)]
    case (.objectFault, _, .rowCache?), (.relationshipFault, _, .rowCache?): [(.hits, 1)]
    case (.objectFault, _, .database?), (.relationshipFault, _, .database?): [(.misses, 1)]
    default: []
    }
  }
}

extension Timeline.Lane {
  /// The title of an event, such as `fetch Mood`, `fault Country (miss)`, or `SELECT Mood`.
  var title: String {
    let subject = subject.isEmpty ? "" : " \(subject)"
    switch kind {
    case .objectFault, .relationshipFault:
      let source =
        switch source {
        case .rowCache: " (hit)"
        case .database: " (miss)"
        case .parent: " (parent)"
        case nil: ""
        }
      return "fault\(subject)\(source)"
    case .statement: return (verb ?? "statement") + subject
    case .batchLoad: return "batch\(subject)"
    case .batchRequest: return "batch request\(subject)"
    case .storeOpening: return "open store"
    case .roundTrip: return "round trip"
    case .failure: return "failure"
    case .migration, .migrationStep: return purpose ?? kind.rawValue
    case .fetch, .save, .prefetch, .transaction, .notification, .merge, .rowCacheHit, .rowCacheMiss:
      return kind.rawValue + subject
    }
  }

  /// The first word of the SQL, in uppercase.
  var verb: String? { sql?.prefix { !$0.isWhitespace }.uppercased() }
}

/// The tracks of a trace, from top to bottom.
enum TraceTrack: Int, CaseIterable {
  case steps = 1
  case fetches
  case saves
  case faults
  case misses
  case loads
  case statements
  case transactions
  case others

  /// The title of the track; the name in Instruments if it has one.
  var name: String {
    switch self {
    case .steps: "Steps"
    case .fetches: Track.Name.fetches.rawValue
    case .saves: Track.Name.saves.rawValue
    case .faults: Track.Name.faults.rawValue
    case .misses: Track.Name.cacheMisses.rawValue
    case .loads: "Batches and prefetches"
    case .statements: "Statements"
    case .transactions: "Transactions"
    case .others: "Others"
    }
  }

  /// Returns the tracks on which events of a lane are drawn.
  ///
  /// As in Instruments, misses are drawn on both the faults and the misses track.
  static func all(of lane: Timeline.Lane) -> [TraceTrack] {
    switch lane.kind {
    case .fetch: [.fetches]
    case .save: [.saves]
    case .objectFault, .relationshipFault:
      lane.source == .database ? [.faults, .misses] : [.faults]
    case .prefetch, .batchLoad: [.loads]
    case .statement: [.statements]
    case .transaction: [.transactions]
    case .batchRequest, .notification, .merge, .migration, .migrationStep, .storeOpening,
      .rowCacheHit, .rowCacheMiss, .roundTrip, .failure:
      [.others]
    }
  }
}
