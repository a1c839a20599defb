"""One local page for the run that is going on, served by `compass up`.

It reads what the stages write while they work, and writes nothing:

    work/progress/STAGE.json         where each stage is (`compass.runs.progress`)
    work/STAGE/COURSE/               an RL stage's metrics, rewards, findings and rollouts while it trains
    work/grade, work/evaluate        sampled responses, as they come in
    data/, metrics/, reports/        what finished stages left

`compass.runs.pipeline` lists the stages, and one module per kind of stage makes the view of the chosen one out of
`compass.page.blocks`; `server` sends both as JSON, and `page.js` draws them. Nothing that a model wrote becomes HTML.
"""
