/// The greatest sizes, counts and waits of the app.
package enum Limits {
    /// Bytes of a posted form.
    package static let formBytes = 1_000_000
    /// Fields of a posted form.
    package static let formFields = 400
    /// Bytes of a posted form with photos and files.
    package static let photoFormBytes = 128 * 1_024 * 1_024
    /// Pixels of a picture that is made smaller; a larger one stays as it is.
    package static let photoPixels = 200_000_000
    /// Bytes at a picture's beginning that are read for which side is up and where it was taken.
    static let photoNoteBytes = 512 * 1_024
    /// How well a picture that was made smaller is kept, of 100.
    static let photoQuality: Int32 = 85
    /// Longer edge of the pictures in lists, in pixels.
    static let thumbnailEdge = 320
    /// Bytes of a picture that a smaller one is made of for a list.
    static let thumbnailSourceBytes = 64 * 1_024 * 1_024
    /// Photos and files of one form that wait for it to be saved.
    static let stagedPhotos = 100
    /// Bytes of a form with the picture of a code.
    package static let codeFormBytes = 24 * 1_024 * 1_024
    /// Pixels of the picture of a code; a telephone's finest pictures have 50 million.
    package static let codePixels = 50_000_000
    /// Longer edge that the picture of a code is decoded at, at most, in pixels: first small, then again larger.
    static let codeEdges = [1_000, 2_400]
    /// Codes of one picture that are listed.
    package static let codes = 8
    /// Characters of an address in a code.
    package static let codeAddress = 2_000
    /// Conflicts of each kind that are listed.
    static let listedConflicts = 50
    /// Records chosen lately that a form offers as buttons.
    static let recentRecords = 6
    /// Replicas of this device that are remembered, to tell whose edit it was.
    static let rememberedReplicas = 200
    /// Services listed on the first page.
    package static let services = 200
    /// Features that one tile holds at most; above it the layer is thinned.
    package static let tileFeatures = 6_000
    /// Features that a thinned tile is left with, about.
    package static let thinnedFeatures = 2_500
    /// Deepest level of tiles; the map enlarges them beyond.
    package static let tileLevel = 22
    /// Tiles kept in memory.
    package static let cachedTiles = 512
    /// How long a tile may be shown before the service is asked again, in seconds: others edit too.
    package static let tileSeconds = 30.0
    /// Characters of one text that a feature is drawn by or lettered with.
    package static let drawnCharacters = 256
    /// Characters of the name of a font.
    static let fontName = 200
    /// Basemaps of one server, and of this device, that are offered.
    static let basemaps = 50
    /// How long a list of basemaps holds, in seconds: others come and go.
    static let basemapSeconds = 30.0
    /// Seconds after which syncs look again whether the basemap of an area is newer on its server.
    static let basemapLookSeconds = 600.0
    /// Seconds for which the app uses the basemap of an offline area without looking for a newer one.
    static let ownBasemapSeconds = 1.0
    /// After how many seconds a basemap is asked for again that could not come: the line broke, or there was no room.
    static let basemapRetrySeconds: Int64 = 30
    /// How long the size of a basemap is waited for, in seconds.
    static let basemapEstimateSeconds: Int64 = 5
    /// How long the browser keeps a tile of a basemap, in seconds.
    static let basemapTileSeconds = 3_600
    /// Rows of the list beside the map.
    package static let nearbyRows = 50
    /// Rows of the full list.
    package static let listRows = 50
    /// Rows of a list by distance that one can go through, a page at a time.
    package static let nearestRows = 500
    /// Rows of the list that one value is given to at once.
    package static let manyRows = 200
    /// Features looked at to find the nearest ones.
    package static let nearbyCandidates = 2_000
    /// How long what a tap found is shown without asking again, in seconds.
    static let tapSeconds = 3.0
    /// Features within the tolerance of a tap that one can step through.
    package static let identified = 20
    /// Related records shown in a pop-up view before somebody asks for all.
    static let relatedRows = 20
    /// Characters above which a value folds.
    static let foldedCharacters = 400
    /// Records that a related one is chosen from on one page.
    static let choosableRecords = 100
    /// Unfinished forms kept on this device.
    static let drafts = 500
    /// How long a cancelled form can be brought back, in seconds.
    static let discardedSeconds = 86_400.0
    /// Up to this age a draft is what one is just working on, and nothing that was left unfinished.
    static let freshDraftSeconds = 60.0
    /// From this part of a new area on, 0 to 1, photos are taken from an area that is on the device.
    static let sharedPartOfArea = 0.5
    /// Features remembered by their address while they are shown.
    package static let rememberedFeatures = 500
    /// Edits of each kind that the page of changes lists, the latest ones.
    static let listedChanges = 100
    /// Events kept for a window that reconnects.
    package static let keptEvents = 256
    /// Windows that listen for events at once.
    package static let windows = 64
    /// How long the map's page waits for the list beside it, in milliseconds.
    static let framePatienceMilliseconds = 80
    /// How long what was found in a view is shown to the next request for it, in seconds.
    static let nearbySeconds = 5
    /// Photos and files that a page lists.
    static let listedPhotos = 100
    /// Neighbours in the picture of a conflict.
    static let conflictNeighbours = 60
    /// Areas that the first page offers, the latest ones.
    static let firstAreas = 3
    /// GeoPackages of this device that are looked at and offered, the latest ones.
    static let foundFiles = 30
    /// Layers of such a file that are named.
    static let namedLayers = 3
    /// Bytes of a path that somebody types.
    static let pathBytes = 4_095
    /// Offline areas of this device that are listed.
    static let areas = 200
    /// Areas that are offered to be extended where a frame overlaps them.
    static let offeredExtensions = 3
    /// Folders of areas that are looked at, with those that extend others.
    static let areaFolders = 600
    /// How long an update of all areas waits for the sync of one of them before it goes on with the next, in seconds.
    static let updatePatienceSeconds = 3_600
    /// How long a larger area that has arrived waits for the sync of the one that it extends, in seconds.
    static let growthPatienceSeconds = 120
    /// Characters of an area's name.
    static let areaName = 60
    /// Places that an area can be chosen by which are listed.
    static let areaPlaces = 50
    /// Features that the size of an area's file is estimated by, of each layer.
    static let estimatedFeatures = 50
    /// Steps of a download that its page lists, the latest ones.
    static let jobSteps = 6
    /// How often windows are told how far a sending has come, in milliseconds.
    static let sendingLookMilliseconds = 200
    /// How often a download is looked at for its progress, in milliseconds.
    static let jobLookMilliseconds = 250
    /// The time by which the pace of a download is told, in seconds.
    static let paceSeconds = 8
    /// How long a download goes before its pace is told, in seconds.
    static let paceLeastSeconds = 2.0
    /// Hours that a download is said to take at most: a line that slow tells nothing more exact.
    static let hoursTold = 48
    /// Vertices of a shape that is edited by hand.
    static let sketchVertices = 2_000
    /// Rows of the table of vertices; more are shown around the chosen one.
    static let sketchRows = 200
    /// The greatest distance at which a vertex snaps, in metres of the map's plane.
    static let snapMetres = 100_000.0
    /// Features of a layer that are looked at to snap to.
    static let snapCandidates = 50
    /// Seconds between signs of life on an event stream.
    package static let heartbeatSeconds = 15
    /// How long an answer to an edit waits for the server before it says "on this device", in milliseconds.
    package static let sendPatienceMilliseconds = 1_500
    /// The wait after the first failed try to send, in milliseconds; it doubles up to `retryMostMilliseconds`.
    package static let retryFirstMilliseconds = 1_000
    /// The longest wait before edits are sent again.
    package static let retryMostMilliseconds = 60_000
    /// How long a change of the person who works waits for requests that are under way, in seconds.
    static let gatePatienceSeconds = 15
    /// How long a sign-in in the browser is waited for, in seconds.
    static let browserSignInSeconds = 600
    /// Maps of a portal that a page lists.
    static let portalMaps = 20
    /// Maps of the portal that the first page offers, the newest.
    static let firstPortalMaps = 5
    /// How long the first page waits for the portal's maps, in milliseconds.
    static let portalPatienceMilliseconds = 1_500
    /// Bytes of a map's picture.
    static let pictureBytes = 1_048_576
    /// Words of a search for maps.
    static let searchWords = 8
    /// Characters of such a word.
    static let searchWordLength = 40
    /// Choices of a coded domain shown as buttons; more become a select.
    package static let buttonChoices = 8
    /// Choices that stand in one row on a telephone, where their words are short.
    static let shortChoices = 4
    /// Characters of such a word.
    static let shortChoiceCharacters = 8
    /// Choices in the menu of the call-out; more are left to the form.
    package static let menuChoices = 12
    /// A new feature nearer than this to another is warned about, in metres.
    package static let closeMetres = 6.0
    /// Characters of a text that is searched for.
    static let searchCharacters = 400
    /// Characters from which on a text is searched for.
    static let searchLeastCharacters = 2
    /// Rows of a search, of the features of a layer and of the addresses and places.
    static let searchRows = 6
    /// Features of a layer that a search looks at for the nearest.
    static let searchCandidates = 60
    /// The score, of 100, from which on an address is shown as found.
    static let searchScore = 50.0
    /// Chosen places and features that a map remembers.
    static let recentSearches = 8
    /// How long a locator may take to answer, in seconds.
    static let locatorSeconds = 6
    /// How long the list of a server's locators holds, in seconds.
    static let locatorListSeconds = 60
    /// Locators of a map that are asked one after the other.
    static let locatorsPerMap = 3
    /// Forms whose addresses are looked for or kept at a time.
    static let addressFills = 64
}
