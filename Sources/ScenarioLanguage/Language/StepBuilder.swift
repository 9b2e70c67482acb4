import ManagedModel
package import ProfileEvents
import SQLiteDriver
package import WorkbenchText

/// Creates a step from its words.
///
/// This type defines which verb takes which words.
package struct StepBuilder {
  private let form: StepForm

  /// Creates a builder for the words of a step.
  package init(_ form: StepForm) {
    self.form = form
  }

  /// Creates the step.
  ///
  /// - Throws: The first problem, in source order.
  package func step(at location: CallSite) throws(LanguageProblem) -> Step {
    let verb = try verb()
    var ranges = StepRanges(verb: form.verb.range)
    let subject = try subject(of: verb)
    ranges.subject = form.subject?.range
    try checkReads(of: verb)
    ranges.reads = form.reads.map(\.range)

    var step = Step(
      verb: verb, subject: subject, reads: form.reads.map(\.text), location: location,
      ranges: ranges)
    var seen = Set<String>()
    for entry in form.entries {
      guard seen.insert(entry.key.text).inserted else {
        throw LanguageProblem(
          "duplicate `\(entry.key.text)`", at: entry.key.range, nextStep: "remove one of them")
      }
      try add(entry, to: &step)
    }
    try checkComplete(step)
    return step
  }

  private func verb() throws(LanguageProblem) -> Verb {
    let word = form.verb
    guard let verb = Verb(rawValue: word.text), !word.isQuoted else {
      let verbs = Verb.allCases.map(\.rawValue)
      throw LanguageProblem(
        "unknown verb `\(word.text)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: verbs),
        nextStep: "start with one of: \(ModelNames.list(verbs))")
    }
    return verb
  }

  private func subject(of verb: Verb) throws(LanguageProblem) -> String {
    if let subject = form.subject {
      guard verb.subject != .none else {
        throw LanguageProblem(
          "`\(verb.rawValue)` doesn't take a subject", at: subject.range,
          nextStep: "write `\(verb.usage)`")
      }
      try check(subject, of: verb)
      return subject.text
    }
    let wanted: String
    switch verb.subject {
    case .none: return ""
    case .entity: wanted = "the name of an entity"
    case .result: wanted = "the name of a result"
    case .context: wanted = "the name of a context"
    case .text where verb == .sql: wanted = "a statement in quotes"
    case .text where verb == .history: wanted = "`track` or `purge`"
    case .text: wanted = verb == .pragma ? "the name of a pragma" : "a version of the model"
    }
    throw LanguageProblem(
      "`\(verb.rawValue)` needs \(wanted)", at: form.verb.range, nextStep: "write `\(verb.usage)`")
  }

  /// Checks a subject that names something new, or that is passed to SQLite.
  private func check(_ subject: Word, of verb: Verb) throws(LanguageProblem) {
    switch verb {
    case .context: _ = try OptionReader(key: form.verb, value: .words([subject])).name()
    case .pragma where !subject.isName:
      throw LanguageProblem(
        "`\(subject.text)` isn't the name of a pragma", at: subject.range,
        nextStep: "write `\(verb.usage)`, for example `pragma cache_size to 100`")
    case .pragma where !Connection.allows(pragma: subject.text):
      throw LanguageProblem(
        "the pragma `\(subject.text)` can't be set", at: subject.range,
        nextStep: "set a pragma that applies to the store and doesn't lock it, such as `cache_size`"
      )
    case .history where HistoryAction(rawValue: subject.text) == nil:
      let actions = HistoryAction.allCases.map(\.rawValue)
      throw LanguageProblem(
        "`history` has no action `\(subject.text)`", at: subject.range,
        didYouMean: NearestName.of(subject.text, among: actions),
        nextStep: "write `\(verb.usage)`")
    case .sql where subject.text.allSatisfy(\.isWhitespace):
      throw LanguageProblem(
        "the statement is empty", at: subject.range, nextStep: "write `\(verb.usage)`")
    default: break
    }
  }

  private func checkReads(of verb: Verb) throws(LanguageProblem) {
    guard verb.pathsKey == nil, let first = form.reads.first else { return }
    throw LanguageProblem(
      "`\(verb.rawValue)` doesn't take key paths", at: first.range,
      nextStep: "write `\(verb.usage)`")
  }

  private func checkComplete(_ step: Step) throws(LanguageProblem) {
    guard let missing = step.verb.missing(from: step.words) else { return }
    throw LanguageProblem(
      "`\(step.verb.rawValue)` needs \(missing)", at: step.ranges.verb,
      nextStep: "write `\(step.verb.usage)`")
  }

  private func add(_ entry: StepForm.Entry, to step: inout Step) throws(LanguageProblem) {
    let reader = OptionReader(key: entry.key, value: entry.value)
    switch entry.key.text {
    case "as":
      let word = try reader.name()
      guard step.verb.named != nil else {
        throw LanguageProblem(
          "`\(step.verb.rawValue)` has no result to name", at: entry.key.range,
          nextStep: "remove `as \(word.text)`")
      }
      step.name = word.text
      step.ranges.name = word.range
    case "fails":
      step.fails = try reader.number()
    default:
      let (option, words) = try StepBuilder.option(entry.key, entry.value, of: step.verb)
      step.setOption(option, words: words)
    }
  }

  /// Returns an option of a verb and the words of its value.
  package static func option(
    _ key: Word, _ value: StepForm.Value, of verb: Verb
  ) throws(LanguageProblem) -> (StepOption, [Word]) {
    let words = verb.allOptions
    guard let word = OptionWord(rawValue: key.text), words.contains(word) else {
      let others = (verb.named == nil ? [] : ["as"]) + ["fails"]
      let known = (verb.pathsKey.map { [$0] } ?? []) + words.map(\.rawValue) + others
      let belongsElsewhere = OptionWord(rawValue: key.text) != nil
      throw LanguageProblem(
        belongsElsewhere
          ? "`\(verb.rawValue)` doesn't take `\(key.text)`" : "unknown option `\(key.text)`",
        at: key.range,
        didYouMean: belongsElsewhere ? nil : NearestName.of(key.text, among: known),
        nextStep: "`\(verb.rawValue)` takes: \(known.joined(separator: ", "))")
    }
    if verb != .batchUpdate, case .pairs(let pairs) = value,
      let pair = pairs.first(where: \.isExpression)
    {
      throw LanguageProblem(
        "`\(verb.rawValue)` doesn't evaluate expressions", at: pair.value.range,
        nextStep: "write the value itself, or set the attribute with `batch-update`")
    }
    return try OptionReader(key: key, value: value).option(word)
  }
}
