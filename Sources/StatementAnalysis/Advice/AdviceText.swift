import WorkbenchText

/// Advice on indexes as lines for people.
package enum AdviceText {
  /// The whole of it: what was looked at, then proposals, redundant and unused indexes.
  package static func lines(_ advice: IndexAdvice) -> [String] {
    var lines = [
      "\(NumberText.counted(advice.statements, "statement shape")) read, "
        + "\(NumberText.counted(advice.tried, "index", "indexes")) tried on a copy of the store"
    ]
    for sql in advice.unmeasured {
      lines.append("left out, it does not run on this store: \(SQLAbbreviation.short(sql))")
    }
    if advice.isEmpty {
      return lines + ["", "nothing to do: no index that was tried helped, none is too many"]
    }
    for (place, proposal) in advice.proposals.enumerated() {
      lines += [""] + self.lines(proposal, number: place + 1)
    }
    for index in advice.redundant {
      let other = index.isServedByProposal ? "the proposed \(index.servedBy)" : index.servedBy
      lines += [
        "",
        "redundant: \(index.name) (\(index.columns.joined(separator: ", "))); \(other) begins "
          + "with the same columns and serves the same searches",
      ]
    }
    for index in advice.unused {
      let room = index.bytes.map { ", \(NumberText.counted($0, "byte"))" } ?? ""
      lines += [
        "",
        "unused: \(index.name) (\(index.columns.joined(separator: ", "))\(room)); no statement "
          + "of this work went through it, other work may",
      ]
    }
    return lines
  }

  private static func lines(_ proposal: IndexProposal, number: Int) -> [String] {
    var lines = [
      "\(number)  index \(proposal.title): "
        + "\(steps(proposal.stepsBefore, proposal.stepsAfter)) VM steps, tried"
    ]
    for gain in proposal.gains {
      lines.append(
        "   \(NumberText.grouped(gain.count)) x  \(SQLAbbreviation.short(gain.sql))")
      lines.append("        \(steps(gain.before, gain.after)) VM steps a run")
      lines += gain.planBefore.map { "        now   \($0)" }
      lines += gain.planAfter.map { "        then  \($0)" }
    }
    lines.append("   costs  \(costs(of: proposal).joined(separator: " · "))")
    for (place, line) in proposal.modelElement.enumerated() {
      lines.append("   \(place == 0 ? "model" : "     ")  \(line)")
    }
    return lines + ["   SQL    \(proposal.sql)"]
  }

  /// `21 → 29 VM steps an INSERT`, `24 pages, 98,304 bytes`.
  package static func costs(of proposal: IndexProposal) -> [String] {
    var costs: [String] = []
    if let insert = proposal.insertSteps {
      costs.append("\(steps(insert.before, insert.after)) VM steps an INSERT")
    } else {
      costs.append("an INSERT was not measured")
    }
    if let size = proposal.size {
      costs.append(
        "\(NumberText.counted(size.pages, "page")), \(NumberText.counted(size.bytes, "byte"))")
    }
    return costs
  }

  private static func steps(_ before: Int, _ after: Int) -> String {
    "\(NumberText.grouped(before)) → \(NumberText.grouped(after))"
  }
}
