/// Does something for each element, some at a time, and gives the results in the order of the elements. The first failure ends
/// all of it.
func concurrently<Element: Sendable, Result: Sendable>(
    _ elements: [Element], atOnce: Int, _ work: @escaping @Sendable (Element) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
        var waiting = elements.enumerated().makeIterator()
        func start() {
            guard let (index, element) = waiting.next() else { return }
            group.addTask { (index, try await work(element)) }
        }
        for _ in 0..<atOnce { start() }
        var results: [Result?] = Array(repeating: nil, count: elements.count)
        while let (index, result) = try await group.next() {
            results[index] = result
            start()
        }
        return results.compactMap(\.self)
    }
}
