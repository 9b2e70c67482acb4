/// The Markdown pages of the repository.
enum Documents {
  static let all: [String] = {
    let top = [
      "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "DEVIATIONS.md", "CHANGELOG.md",
      "SECURITY.md",
      "Scenarios/README.md",
    ]
    let below = ["Documentation", "Reports", "Benchmarks", "Examples", "Integrations"]
      .flatMap(Repository.files(below:))
    return top + below.filter { $0.hasSuffix(".md") }
  }()
}
