import ProfileEvents
import WorkbenchText

@testable import RunReports

/// The JSON Schema (draft 2020-12) of reports as JSON Lines, one line at a time.
///
/// A reader should ignore keys and kinds that it doesn't know, so the schema allows other keys.
enum ReportLineSchema {
  /// The file name of the published schema.
  static let fileName = "report-lines.schema.json"

  /// The schema as a JSON document.
  static var document: String { root.document }

  /// A key of a line: its name, its schema, and whether each line of the kind has it.
  private struct Key {
    let name: String
    let schema: SchemaNode
    var isRequired: Bool

    init(_ name: String, _ type: String, _ meaning: String, isRequired: Bool = true) {
      self.name = name
      schema =
        switch type {
        case "counts":
          [
            "description": .text(meaning), "type": "object",
            "additionalProperties": ["type": "integer"],
          ]
        case "texts":
          ["description": .text(meaning), "type": "array", "items": ["type": "string"]]
        default: ["description": .text(meaning), "type": .text(type)]
        }
      self.isRequired = isRequired
    }
  }

  private static var root: SchemaNode {
    let kinds = definitions.map(\.name)
    return .pairs([
      ("$schema", "https://json-schema.org/draft/2020-12/schema"),
      ("title", "A line of a cdprof report as JSON Lines"),
      (
        "description",
        "Within a version, keys and kinds can be added. Times are in nanoseconds, counts are exact."
      ),
      ("type", "object"),
      (
        "properties",
        .pairs([
          (
            "version",
            ["description": "The version of this schema.", "enum": [.number(ReportLine.version)]]
          ),
          ("kind", ["description": "What the line describes.", "type": "string"]),
          (
            "labels",
            [
              "description": "The labels specified with --label.", "type": "object",
              "additionalProperties": ["type": "string"],
            ]
          ),
        ])
      ),
      ("required", ["version", "kind"]),
      ("anyOf", .array(kinds.map { ["$ref": .text("#/$defs/\($0)")] })),
      ("$defs", .pairs(definitions.map { ($0.name, $0.schema) })),
    ])
  }

  private static var definitions: [(name: String, schema: SchemaNode)] {
    let kinds: [(ReportLine.Kind, String, [[Key]])] = [
      (.run, "The first line of a run.", [ofRun, [machine], run]),
      (.variant, "The result of a variant.", [ofRun, [machine, variantKey], variant]),
      (.step, "A step of a variant.", [ofRun, [variantKey], time, step]),
      (.leftOut, "The events of a variant that were left out.", [ofRun, [variantKey], leftOut]),
      (.log, "The first line of a log.", [ofLog, log]),
      (.section, "A section of a log.", [ofLog, section]),
      (
        .statementTotals, "All executions of a statement in a variant or a log.",
        [ofEither, totals]
      ),
      (.finding, "A finding in a variant or a log.", [ofEither, finding]),
    ]
    let events = EventKind.allCases.filter { $0 != .failure }.map { SchemaNode.text($0.rawValue) }
    return kinds.map { kind, meaning, keys in
      (kind.rawValue, definition([.text(kind.rawValue)], meaning, keys.flatMap(\.self)))
    } + [
      (
        "event",
        definition(events, "An event of a variant.", ofRun + [variantKey] + time + event)
      )
    ]
  }

  private static func definition(
    _ kinds: [SchemaNode], _ meaning: String, _ keys: [Key]
  ) -> SchemaNode {
    let properties = [("kind", ["enum": .array(kinds)])] + keys.map { ($0.name, $0.schema) }
    return .pairs([
      ("description", .text(meaning)),
      ("properties", .pairs(properties)),
      ("required", .array(keys.filter(\.isRequired).map { .text($0.name) })),
    ])
  }

  // MARK: What lines have in common

  private static let ofRun = [Key("scenario", "string", "The name of the scenario.")]
  private static let machine = Key(
    "machine", "string", "The system, processor, and number of cores.")
  private static let variantKey = Key("variant", "string", "The name of the variant.")
  private static let ofLog = [Key("log", "string", "The path of the log as given, or -.")]
  private static let ofEither =
    (ofRun + [machine, variantKey] + ofLog).map { key in
      var key = key
      key.isRequired = false
      return key
    }
  private static let time = [
    Key("at", "integer", "The beginning, from that of the variant."),
    Key("nanoseconds", "integer", "The duration."),
  ]
  private static let cdprof = Key("cdprof", "string", "The version of cdprof.")

  // MARK: Runs

  private static let run = [
    cdprof,
    Key("sqlite", "string", "The version of SQLite."),
    Key("swift", "string", "The version of Swift."),
    Key("build", "string", "release or debug; the times of a debug build aren't meaningful."),
    Key(
      "jobs", "integer", "The number of scenarios that ran concurrently, if several did.",
      isRequired: false),
    Key("engine", "string", "The database, if it isn't SQLite.", isRequired: false),
    Key("file", "string", "The file of the scenario."),
    Key("seed", "integer", "The seed of the data."),
    Key("scale", "integer", "The scale of the data."),
    Key("passes", "boolean", "Whether every expectation is met."),
  ]
  private static let variant = [
    Key("passes", "boolean", "Whether every expectation of the variant is met."),
    Key("nanoseconds", "integer", "The duration, the median if it was repeated."),
    Key("repeats", "integer", "The number of iterations."),
    Key("counts", "counts", "The exact metrics by name."),
  ]
  private static let step = [
    Key("step", "string", "The step as a line of the shell."),
    Key("location", "string", "FILE:LINE."),
  ]
  private static let leftOut = [Key("count", "integer", "The number of events.")]
  private static let event = [
    Key("context", "string", "The context.", isRequired: false),
    Key("entity", "string", "The entity.", isRequired: false),
    Key("relationship", "string", "The relationship.", isRequired: false),
    Key("object", "string", "The URI of the object.", isRequired: false),
    Key("source", "string", "What fulfilled a fault.", isRequired: false),
    Key("rows", "integer", "The number of rows.", isRequired: false),
    Key("statement", "string", "The kind of the statement: select, insert, …", isRequired: false),
    Key("sql", "string", "The statement; of a fetch or fault, the first one.", isRequired: false),
    Key("location", "string", "FILE:LINE.", isRequired: false),
  ]

  // MARK: Logs

  private static let log = [
    cdprof,
    Key("lines", "integer", "The number of lines."),
    Key("firstTime", "string", "The first time, as in the log.", isRequired: false),
    Key("lastTime", "string", "The last time, as in the log.", isRequired: false),
    Key("nanoseconds", "integer", "The time of all statements, counting nothing twice."),
    Key("counts", "counts", "The metrics that a log contains, by name."),
  ]
  private static let section = [
    Key("section", "string", "The name of the section."),
    Key("firstLine", "integer", "The first line, from 1."),
    Key("lastLine", "integer", "The last line."),
    Key("passes", "boolean", "With --expect, whether its counts are met.", isRequired: false),
    Key("nanoseconds", "integer", "The time of its statements, counting nothing twice."),
    Key("counts", "counts", "The metrics that a log contains, by name."),
  ]

  // MARK: Runs and logs

  private static let totals = [
    Key("number", "integer", "The number of the statement in the variant or log."),
    Key("statement", "string", "The kind of the statement: select, insert, …"),
    Key("table", "string", "The table, in a log.", isRequired: false),
    Key("entity", "string", "The entity, if it's known.", isRequired: false),
    Key("executions", "integer", "The number of executions."),
    Key("timed", "integer", "The number of executions with a time."),
    Key("rows", "integer", "The number of rows that all executions returned or changed."),
    Key("nanoseconds", "integer", "The time of all executions, without that of nested fetches."),
    Key(
      "medianNanoseconds", "integer", "In a log, the median time, with nested fetches.",
      isRequired: false),
    Key(
      "maxNanoseconds", "integer", "In a log, the longest time, with nested fetches.",
      isRequired: false),
    Key("faults", "integer", "In a log, the executions that fulfilled a fault.", isRequired: false),
    Key(
      "prefetches", "integer", "In a log, the executions that were prefetches.", isRequired: false),
    Key(
      "truncated", "boolean", "True if the log contains only the beginning of the statement.",
      isRequired: false),
    Key("sql", "string", "The statement."),
    Key(
      "normalized", "string",
      "The statement with each list of an IN as (?), and with single spaces."),
    Key(
      "binds", "texts", "With --show-binds, the bound values of one execution.", isRequired: false),
    Key("location", "string", "In a run, FILE:LINE of the first execution.", isRequired: false),
  ]
  private static let finding = [
    Key("finding", "string", "The rule and its subject: fault-storm(Country)."),
    Key("rule", "string", "The rule."),
    Key("subject", "string", "The entity, relationship, or table."),
    Key("count", "integer", "The number of events or statements."),
    Key("longest", "integer", "In a log, those of the longest repetition.", isRequired: false),
    Key("nanoseconds", "integer", "In a log, the time of the statements.", isRequired: false),
    Key("location", "string", "In a run, FILE:LINE.", isRequired: false),
  ]
}
