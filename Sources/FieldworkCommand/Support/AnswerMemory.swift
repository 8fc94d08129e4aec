import CMalloc

/// The memory of one answer is kept for the next. By itself the C library gives a large block back to the system as soon as it is
/// freed: a server that answers by the half megabyte would ask for the same pages hundreds of times a second, each time zeroed.
enum AnswerMemory {
    /// Blocks up to so many bytes are kept: an answer's pieces are smaller, in all their copies.
    private static let largestBlock: Int32 = 2 * 1_024 * 1_024
    /// So many bytes that are free stay with the process, in each of the parts that the C library has for its threads.
    private static let kept: Int32 = 8 * 1_024 * 1_024

    /// For the whole process.
    static func keep() { fieldwork_keepFreedMemory(largestBlock, kept) }

    /// Gives all that is free back to the system: after requests that took far more than an answer does.
    @Sendable static func giveBack() { fieldwork_giveBackFreedMemory() }
}
