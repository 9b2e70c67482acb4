import OpenCoreData
import WorkbenchText

/// Holds what a step says of contexts against those there are.
package struct ContextCheck {
  let names: ModelNames
  let known: KnownNames

  /// Words that `pin to` takes beside the names of contexts.
  package static let generations = ["current", "none"]

  /// - Throws: a problem at the first name that is no context, or at what the context cannot do.
  func check(_ step: Step) throws(LanguageProblem) {
    if case .context(let name)? = step.option(.context) {
      try check(name, at: step.places.place(of: .context))
    }
    switch step.verb {
    case .context: try checkMaking(step)
    case .drop where known.contexts[step.subject] != nil: try checkDropping(step)
    case .pin: try checkPin(step)
    case .undo: try checkUndo(step)
    case .pragma: try checkPragma(step)
    default: break
    }
  }

  private func check(_ name: String, at place: SourcePlace) throws(LanguageProblem) {
    guard known.contexts[name] == nil else { return }
    let contexts = known.contexts.keys.sorted()
    throw LanguageProblem(
      "there is no context `\(name)`", at: place,
      didYouMean: NearestName.of(name, among: contexts),
      nextStep: "make it with `context \(name)`; there are: \(ModelNames.list(contexts))")
  }

  private func checkMaking(_ step: Step) throws(LanguageProblem) {
    if ContextCheck.generations.contains(step.subject) {
      throw LanguageProblem(
        "`\(step.subject)` is a word of `pin` and cannot name a context",
        at: step.places.subject ?? step.places.verb, nextStep: "choose another name")
    }
    if known.contexts[step.subject] != nil {
      for word in [OptionWord.parent, .queue, .coordinator] where step.option(word) != nil {
        throw LanguageProblem(
          "`\(step.subject)` exists, and a context keeps its \(word.rawValue)",
          at: step.places.place(of: word), nextStep: "make another context with it")
      }
    }
    guard case .parent(let parent)? = step.option(.parent) else { return }
    try check(parent, at: step.places.place(of: .parent))
    guard step.option(.coordinator) == nil else {
      throw LanguageProblem(
        "a child has its parent's coordinator", at: step.places.place(of: .coordinator),
        nextStep: "leave `coordinator` or `parent` out")
    }
  }

  private func checkDropping(_ step: Step) throws(LanguageProblem) {
    let name = step.subject
    let place = step.places.subject ?? step.places.verb
    guard name != ContextShape.main else {
      throw LanguageProblem(
        "the context `\(name)` stays to the end", at: place,
        nextStep: "let its objects go with `reset`")
    }
    if let child = known.contexts.first(where: { $0.value.parent == name })?.key {
      throw LanguageProblem(
        "`\(name)` is the parent of `\(child)`", at: place, nextStep: "drop `\(child)` first")
    }
  }

  private func checkPin(_ step: Step) throws(LanguageProblem) {
    guard case .to(let word)? = step.option(.to), !ContextCheck.generations.contains(word),
      known.contexts[word] == nil
    else { return }
    let choices = ContextCheck.generations + known.contexts.keys.sorted()
    throw LanguageProblem(
      "there is no generation or context `\(word)`", at: step.places.place(of: .to),
      didYouMean: NearestName.of(word, among: choices),
      nextStep: "write one of: \(ModelNames.list(choices))")
  }

  private func checkUndo(_ step: Step) throws(LanguageProblem) {
    let context = known.context(of: step)
    guard let shape = known.contexts[context], shape.isUndoable != true else { return }
    throw LanguageProblem(
      "`\(context)` has no undo manager", at: step.places.verb,
      nextStep: "give it one with `context \(context) undoable yes`")
  }

  private func checkPragma(_ step: Step) throws(LanguageProblem) {
    guard let name = known.results.keys.sorted().first else { return }
    throw LanguageProblem(
      "the store is opened anew, and `\(name)` is still held", at: step.places.verb,
      nextStep: "set pragmas before anything is fetched, or `drop \(name)` first")
  }
}
