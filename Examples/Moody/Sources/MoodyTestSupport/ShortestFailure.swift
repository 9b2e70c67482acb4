/// Returns the failure of the fewest steps that leaving out steps leads to.
///
/// Leaves out halves, quarters, and so on, as long as the rest still fails and the time isn't over.
///
/// - Parameters:
///   - steps: The numbers of the steps that fail.
///   - failure: What their run returned.
///   - time: The time after which no other steps are left out.
///   - attempts: How often each is run until it fails. Steps whose failure is a race don't always
///     fail.
///   - run: A function that runs some of the steps, and returns a description of the failure, or
///     `nil` if they don't fail.
public func shortestFailure(
  _ steps: [Int], _ failure: String, within time: Duration = .seconds(600), attempts: Int = 1,
  isolation: isolated (any Actor)? = #isolation, _ run: ([Int]) async throws -> String?
) async rethrows -> String {
  var (steps, failure, length) = (steps, failure, steps.count / 2)
  let end = ContinuousClock.now + time
  while length > 0 {
    var start = 0
    while start < steps.count, .now < end {
      let next = min(start + length, steps.count)
      let rest = Array(steps[..<start] + steps[next...])
      var shorter: String?
      for _ in 0..<attempts where shorter == nil { shorter = try await run(rest) }
      if let shorter {
        (steps, failure) = (rest, shorter)
      } else {
        start = next
      }
    }
    length /= 2
  }
  return failure
}
