/// The bounds of people, groups, items and tokens. Each is tested on both sides.
package enum Limits {
    /// Characters of a person's name.
    package static let nameLength = 128
    /// Bytes of the name by which a provider of sign-ins knows a person; OpenID Connect allows 255 letters of ASCII.
    package static let subjectBytes = 255
    /// Bytes of the address of a provider.
    package static let issuerBytes = 2_048
    /// Characters that a password has at least.
    package static let passwordLength = 8
    /// Bytes of a password.
    package static let passwordBytes = 1_024
    /// Binary logarithm of scrypt's cost: 65,536 rounds over 64 MiB.
    package static let passwordCost = 16
    /// Passwords that wait for their turn to be checked. Further ones are told to come again.
    package static let waitingPasswords = 64
    /// Failed sign-ins of one account, one after another, from which on each further one makes the account wait.
    package static let failuresPerAccount = 5
    /// Failed sign-ins from one address, from which on each further one makes the address wait.
    package static let failuresPerAddress = 50
    /// The longest time that failed sign-ins make an account or an address wait, in seconds.
    package static let lockSeconds: Int64 = 900
    /// Failed sign-ins are forgotten after so many seconds without another.
    package static let failureMemorySeconds: Int64 = 3_600
    /// How long a token lives that says nothing of it, in seconds.
    package static let tokenSeconds: Int64 = 3_600
    /// How long a token may live, in seconds: two weeks.
    package static let longestTokenSeconds: Int64 = 1_209_600
    /// How long the access token of an authorization lives, in seconds.
    package static let accessTokenSeconds: Int64 = 1_800
    /// How long a browser stays signed in to the server's own pages, in seconds.
    package static let sessionSeconds: Int64 = 43_200
    /// How long a refresh token lives, in seconds: two weeks.
    package static let refreshTokenSeconds: Int64 = 1_209_600
    /// For how long a refresh token that was exchanged is taken once more, in seconds: the answer may have been lost.
    package static let exchangeGraceSeconds: Int64 = 60
    /// How long an authorization code may be used, in seconds.
    package static let codeSeconds: Int64 = 300
    /// How long a link is good by which a person chooses a password, in seconds: three days.
    package static let invitationSeconds: Int64 = 259_200
    /// How long a person may take to sign in, in seconds.
    package static let stateSeconds: Int64 = 1_800
    /// Sign-ins that may be under way at a time; of more, the oldest are forgotten.
    package static let signInsUnderWay = 10_000
    /// Live tokens of one person. A further one ends the oldest.
    package static let tokensPerPerson = 1_000
    /// Milliseconds for which a right is used before the database is asked whether rights have changed.
    package static let rightsMilliseconds: Int64 = 250
    /// For how long rights are used that were read before the database ceased to answer, in seconds.
    package static let rightsOutageSeconds: Int64 = 30
    /// Tokens and services whose rights are kept in memory.
    package static let rememberedRights = 10_000
    /// Characters of a title.
    package static let titleLength = 250
    /// Bytes of the description and of the other texts of an item or a group.
    package static let textBytes = 256 * 1_024
    /// Tags or keywords of an item or a group.
    package static let tags = 128
    /// Bytes of an item's data, of its thumbnail or of one of its resources.
    package static let contentBytes = 64 * 1_024 * 1_024
    /// Resources of one item.
    package static let resourcesPerItem = 1_000
    /// Parts in which the data of an item may come.
    package static let parts = 10_000
    /// Layers of a web map whose services are looked at when it is shared.
    static let layersOfMap = 1_000
    /// Folders of one person.
    package static let foldersPerPerson = 1_000
    /// Groups of the organisation.
    package static let groups = 10_000
    /// Groups that one item is shared with.
    package static let groupsPerItem = 1_000
    /// Characters of a search.
    package static let searchLength = 8_192
    /// Terms of a search.
    package static let searchTerms = 500
    /// Results up to the last one of a page that are picked out of what was found; for more, all that was found is sorted.
    static let pickedResults = 200
    /// Places of the search index that items have left, below which it is not numbered anew.
    static let deadSlots = 1_000
    /// Items that are read at once into the search index.
    static let indexedAtOnce = 1_000
    /// Changes of items that are kept for the search indexes of other processes; one that missed more is made anew.
    static let keptItemChanges: Int64 = 10_000
    /// Words of one phrase that are looked for; the rest is not.
    package static let wordsPerPhrase = 16
    /// How deep the brackets of a search may lie within each other.
    package static let searchDepth = 32
    /// Results on one page of a search.
    package static let resultsPerPage = 100
    /// Words of one text of an item that a search finds.
    package static let wordsPerText = 2_000
    /// Characters of a word that a search finds; longer ones are cut.
    package static let wordLength = 64
    /// Registered applications of the organisation.
    package static let clients = 10_000
    /// Redirect addresses of one application.
    package static let redirects = 50
    /// Entries of the audit log in one answer.
    package static let auditEntriesPerAnswer = 10_000
    /// Custom roles of the organisation.
    package static let roles = 1_000
}
