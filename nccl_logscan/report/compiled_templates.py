"""The templates of the HTML report, compiled. Written by: python tools/templates.py."""

from nccl_logscan.report.page import Macro, environment, escape, loop_context, markup_join, missing, nothing

DIGEST = "d898e50935f8cb08d6d0eafaf6fe151aba969e2a27d66be6975adfcd773df694"
SCRIPT_DIGEST = 'sha256-Fbn8yqxoDXdGOeCCKLgWJGwLv+SrpyMEh81sl3n5mYo='
STYLE_DIGEST = 'sha256-tGyrLBvNNKQwhwgnjFVXVWK9lq/S6vi62ceei5UogHA='


def _activity_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_heat_map = resolve('heat_map')
    l_0_view = resolve('view')
    l_0_moment = missing
    t_1 = environment.filters['length']
    t_2 = environment.filters['moment']
    t_3 = environment.filters['number']
    t_4 = environment.filters['ranks']
    t_5 = environment.filters['short_path']
    t_6 = environment.tests['none']
    pass
    def macro(l_1_at):
        t_7 = []
        if l_1_at is missing:
            l_1_at = undefined("parameter 'at' was not provided", name='at')
        pass
        if t_6(l_1_at):
            pass
            t_7.append(
                '<td>–</td>',
            )
        else:
            pass
            t_7.append(
                '<td>',
            )
            if environment.getattr(l_1_at, 'time'):
                pass
                t_7.extend((
                    '<span class="time">',
                    escape(environment.finalize(t_2(environment.getattr(l_1_at, 'time')))),
                    '</span> ',
                ))
            t_7.extend((
                'rank ',
                escape(environment.finalize(environment.getattr(l_1_at, 'rank'))),
                ' <code class="place">',
                escape(environment.finalize(t_5(environment.getattr(l_1_at, 'file'), 60))),
            ))
            if environment.getattr(l_1_at, 'line'):
                pass
                t_7.extend((
                    ':',
                    escape(environment.finalize(environment.getattr(l_1_at, 'line'))),
                ))
            t_7.append(
                '</code></td>',
            )
        return concat(t_7)
    context.exported_vars.add('moment')
    context.vars['moment'] = l_0_moment = Macro(environment, macro, 'moment', ('at',), False, False, False, context.eval_ctx.autoescape)
    if (undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map):
        pass
        yield '<section id="activity" aria-labelledby="activity-title">\n<h2 id="activity-title">When ranks spoke and fell silent</h2>\n<div class="scroll" tabindex="0" role="region" aria-label="Picture of the ranks’ activity">\n<svg class="activity" viewBox="0 0 '
        yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'width')))
        yield ' '
        yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'height')))
        yield '" role="img" aria-labelledby="heat-title heat-text">\n<title id="heat-title">Ranks by time: who still spoke, where trouble began, where silence starts</title>\n<desc id="heat-text">'
        yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'axis')))
        yield ' The table below holds the same.</desc>\n'
        l_1_loop = missing
        for l_1_level, l_1_loop in loop_context(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'levels'), undefined):
            _loop_vars = {}
            pass
            if l_1_level:
                pass
                yield '<path class="speaking l'
                yield escape(environment.finalize(environment.getattr(l_1_loop, 'index')))
                yield '" d="'
                yield escape(environment.finalize(l_1_level))
                yield '"/>'
        l_1_loop = l_1_level = missing
        yield '\n'
        for l_1_row in environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'rows'):
            _loop_vars = {}
            pass
            yield '<g class="lane'
            yield escape(environment.finalize((' culprit' if environment.getattr(l_1_row, 'culprit') else nothing("the inline if-expression on line 12 in 'activity.html.j2' evaluated to false and no else section was defined."))))
            yield '"><text x="'
            yield escape(environment.finalize((environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'left') - 12)))
            yield '" y="'
            yield escape(environment.finalize((environment.getattr(l_1_row, 'y') + 4)))
            yield '" text-anchor="end">'
            yield escape(environment.finalize(environment.getattr(l_1_row, 'label')))
            yield '</text>\n'
            if t_6(environment.getattr(l_1_row, 'silent_from')):
                pass
                yield '<line class="silence" x1="'
                yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'left')))
                yield '" x2="'
                yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'right')))
                yield '" y1="'
                yield escape(environment.finalize(environment.getattr(l_1_row, 'y')))
                yield '" y2="'
                yield escape(environment.finalize(environment.getattr(l_1_row, 'y')))
                yield '"/>\n'
            else:
                pass
                if (environment.getattr(l_1_row, 'silent_from') < (environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'right') - 1)):
                    pass
                    yield '<line class="silence" x1="'
                    yield escape(environment.finalize((environment.getattr(l_1_row, 'silent_from') + 4)))
                    yield '" x2="'
                    yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'right')))
                    yield '" y1="'
                    yield escape(environment.finalize(environment.getattr(l_1_row, 'y')))
                    yield '" y2="'
                    yield escape(environment.finalize(environment.getattr(l_1_row, 'y')))
                    yield '"/>'
                yield '<line class="last" x1="'
                yield escape(environment.finalize(environment.getattr(l_1_row, 'silent_from')))
                yield '" x2="'
                yield escape(environment.finalize(environment.getattr(l_1_row, 'silent_from')))
                yield '" y1="'
                yield escape(environment.finalize((environment.getattr(l_1_row, 'y') - 9)))
                yield '" y2="'
                yield escape(environment.finalize((environment.getattr(l_1_row, 'y') + 9)))
                yield '"/>\n'
            yield '</g>\n'
        l_1_row = missing
        yield '<path class="trouble" d="'
        yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'trouble')))
        yield '"/>\n'
        if (not t_6(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'trouble_x'))):
            pass
            yield '<line class="since" x1="'
            yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'trouble_x')))
            yield '" x2="'
            yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'trouble_x')))
            yield '" y1="2" y2="'
            yield escape(environment.finalize((environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'height') - 30)))
            yield '"/>'
        for l_1_tick in environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'ticks'):
            _loop_vars = {}
            pass
            yield '<g class="tick"><line x1="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
            yield '" x2="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
            yield '" y1="'
            yield escape(environment.finalize((environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'height') - 34)))
            yield '" y2="'
            yield escape(environment.finalize((environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'height') - 28)))
            yield '"/><text x="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
            yield '" y="'
            yield escape(environment.finalize((environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'height') - 10)))
            yield '" text-anchor="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'anchor')))
            yield '">'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'label')))
            yield '</text></g>\n'
        l_1_tick = missing
        for l_1_row in environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'rows'):
            _loop_vars = {}
            pass
            yield '<rect class="hit" x="0" y="'
            yield escape(environment.finalize((environment.getattr(l_1_row, 'y') - 10)))
            yield '" width="'
            yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'width')))
            yield '" height="20"><title>'
            yield escape(environment.finalize(environment.getattr(l_1_row, 'title')))
            yield '</title></rect>'
        l_1_row = missing
        yield '\n</svg>\n</div>\n<p class="legend"><span class="key speaking" aria-hidden="true">▬</span> ranks that will speak again: the higher and darker, the more of the lane <span class="key cause" aria-hidden="true">▮</span> ranks first showed the failure <span class="key cause" aria-hidden="true">┊</span> the first of all that did <span class="key last" aria-hidden="true">|</span> the last word <span class="key silence" aria-hidden="true">┄</span> silence. '
        yield escape(environment.finalize(environment.getattr((undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map), 'axis')))
        if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'ranks_silent'):
            pass
            yield ' Wrote nothing at all: '
            yield escape(environment.finalize(('rank' if (t_1(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'ranks_silent')) == 1) else 'ranks')))
            yield ' '
            yield escape(environment.finalize(t_4(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'ranks_silent'))))
            yield '.'
        yield '</p>\n<details><summary>'
        yield escape(environment.finalize(t_3(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'activity'), 'rank_count'))))
        yield ' ranks as a table</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Table of the ranks’ activity">\n<table>\n<caption>By rank: the first line, the first line of the failure, and the last lines of who fell silent first and last.</caption>\n<thead><tr><th scope="col">Ranks</th><th scope="col">First line</th><th scope="col">Trouble began</th><th scope="col">First to fall silent</th><th scope="col">Last line</th></tr></thead>\n<tbody>\n'
        for l_1_lane in environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'activity'), 'lanes'):
            _loop_vars = {}
            pass
            yield '<tr'
            if environment.getattr(l_1_lane, 'culprit'):
                pass
                yield ' class="culprit"'
            yield '><td class="ranks">'
            yield escape(environment.finalize(environment.getattr(l_1_lane, 'first_rank')))
            if (environment.getattr(l_1_lane, 'rank_count') > 1):
                pass
                yield '-'
                yield escape(environment.finalize(environment.getattr(l_1_lane, 'last_rank')))
                yield ' ('
                yield escape(environment.finalize(t_3(environment.getattr(l_1_lane, 'rank_count'))))
                yield ')'
            yield '</td>'
            yield escape(environment.finalize(context.call((undefined(name='moment') if l_0_moment is missing else l_0_moment), environment.getattr(l_1_lane, 'spoke_first'), _loop_vars=_loop_vars)))
            yield escape(environment.finalize(context.call((undefined(name='moment') if l_0_moment is missing else l_0_moment), environment.getattr(l_1_lane, 'trouble_began'), _loop_vars=_loop_vars)))
            yield escape(environment.finalize(context.call((undefined(name='moment') if l_0_moment is missing else l_0_moment), environment.getattr(l_1_lane, 'silent_first'), _loop_vars=_loop_vars)))
            yield escape(environment.finalize(context.call((undefined(name='moment') if l_0_moment is missing else l_0_moment), environment.getattr(l_1_lane, 'silent_last'), _loop_vars=_loop_vars)))
            yield '</tr>\n'
        l_1_lane = missing
        yield '</tbody>\n</table>\n</div>\n</details>\n</section>\n'


def _course_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_picture = resolve('picture')
    l_0_place = missing
    t_1 = environment.filters['default']
    t_2 = environment.filters['length']
    t_3 = environment.filters['moment']
    t_4 = environment.filters['number']
    t_5 = environment.filters['ranks']
    t_6 = environment.filters['short']
    t_7 = environment.tests['none']
    pass
    included_template = environment.get_template('parts.html.j2', 'course.html.j2')._get_default_module(context)
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'course.html.j2') does not export the requested name 'place'", name='place')
    context.vars['place'] = l_0_place
    context.exported_vars.discard('place')
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'cascade'):
        pass
        yield '<section id="cascade" aria-labelledby="cascade-title">\n<h2 id="cascade-title">What followed from it</h2>\n'
        template = environment.get_template('graph.html.j2', 'course.html.j2')
        gen = template.root_render_func(template.new_context(context.get_all(), True, {'place': l_0_place}))
        try:
            for event in gen:
                yield event
        finally: gen.close()
        yield '<ol class="cascade">\n'
        for l_1_echo in environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'cascade'):
            _loop_vars = {}
            pass
            yield '<li><p class="title">'
            yield escape(environment.finalize(environment.getattr(l_1_echo, 'title')))
            yield '</p>\n<p class="quiet"><span>'
            yield escape(environment.finalize(t_4(environment.getattr(l_1_echo, 'count'))))
            yield ' '
            yield escape(environment.finalize(('time' if (environment.getattr(l_1_echo, 'count') == 1) else 'times')))
            yield '</span>\n'
            if environment.getattr(l_1_echo, 'ranks'):
                pass
                yield '<span>'
                yield escape(environment.finalize(('rank' if (environment.getattr(l_1_echo, 'rank_count') == 1) else 'ranks')))
                yield ' '
                yield escape(environment.finalize(t_5(environment.getattr(l_1_echo, 'ranks'), environment.getattr(l_1_echo, 'rank_count'))))
                yield '</span>'
            yield '<span>first '
            yield escape(environment.finalize(t_3(environment.getattr(environment.getattr(l_1_echo, 'first'), 'time'))))
            yield ' '
            yield escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), environment.getattr(l_1_echo, 'first'), _loop_vars=_loop_vars)))
            yield '</span> <code>'
            yield escape(environment.finalize(environment.getattr(l_1_echo, 'rule')))
            yield '</code></p></li>\n'
        l_1_echo = missing
        yield '</ol>\n'
        if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'cascade'):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_4(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'cascade'))))
            yield ' more are left out.</p>'
        yield '</section>\n'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'timeline'):
        pass
        yield '<section id="timeline" aria-labelledby="timeline-title">\n<h2 id="timeline-title">Timeline</h2>\n'
        if (undefined(name='picture') if l_0_picture is missing else l_0_picture):
            pass
            yield '<p class="zoom" hidden>\n<button type="button" data-zoom="in" aria-controls="timeline-picture">Zoom in</button>\n<button type="button" data-zoom="out" aria-controls="timeline-picture">Zoom out</button>\n<button type="button" data-zoom="whole" aria-controls="timeline-picture">Show all</button>\n<span class="quiet">or the keys + − 0 in the picture, or Ctrl and the wheel</span></p>\n<div class="scroll zoomable" data-near="'
            yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'near')))
            yield '" id="timeline-picture" tabindex="0" role="region" aria-label="Timeline picture">\n<svg viewBox="0 0 '
            yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'width')))
            yield ' '
            yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'height')))
            yield '" role="img" aria-labelledby="picture-title picture-text">\n<title id="picture-title">Moments of the job by rank</title>\n<desc id="picture-text">'
            yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'axis')))
            yield ' The table below holds the same.</desc>\n'
            for l_1_lane in environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'lanes'):
                _loop_vars = {}
                pass
                yield '<g class="lane'
                yield escape(environment.finalize((' culprit' if environment.getattr(l_1_lane, 'culprit') else nothing("the inline if-expression on line 31 in 'course.html.j2' evaluated to false and no else section was defined."))))
                yield '"><line x1="'
                yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'left')))
                yield '" x2="'
                yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'width') - 8)))
                yield '" y1="'
                yield escape(environment.finalize(environment.getattr(l_1_lane, 'y')))
                yield '" y2="'
                yield escape(environment.finalize(environment.getattr(l_1_lane, 'y')))
                yield '"/></g>\n'
            l_1_lane = missing
            if (not t_7(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'cause_x'))):
                pass
                yield '<line class="since moves" x1="'
                yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'cause_x')))
                yield '" x2="'
                yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'cause_x')))
                yield '" y1="4" y2="'
                yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'height') - 28)))
                yield '"/>'
            for l_1_tick in environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'ticks'):
                _loop_vars = {}
                pass
                yield '<g class="tick moves'
                yield escape(environment.finalize((' near' if (environment.getattr(l_1_tick, 'zoom') > 1) else ' far')))
                yield '"><line x1="'
                yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
                yield '" x2="'
                yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
                yield '" y1="'
                yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'height') - 32)))
                yield '" y2="'
                yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'height') - 26)))
                yield '"/><text x="'
                yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
                yield '" y="'
                yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'height') - 10)))
                yield '" text-anchor="'
                yield escape(environment.finalize(environment.getattr(l_1_tick, 'anchor')))
                yield '">'
                yield escape(environment.finalize(environment.getattr(l_1_tick, 'label')))
                yield '</text></g>\n'
            l_1_tick = missing
            for l_1_mark in environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'marks'):
                _loop_vars = {}
                pass
                if (environment.getattr(l_1_mark, 'what') == 'cause'):
                    pass
                    yield '<path class="cause moves" d="M'
                    yield escape(environment.finalize(environment.getattr(l_1_mark, 'x')))
                    yield ' '
                    yield escape(environment.finalize((environment.getattr(l_1_mark, 'y') - 8)))
                    yield 'l8 8l-8 8l-8 -8z"><title>'
                    yield escape(environment.finalize(environment.getattr(l_1_mark, 'title')))
                    yield '</title></path>\n'
                else:
                    pass
                    yield '<circle class="'
                    yield escape(environment.finalize(environment.getattr(l_1_mark, 'what')))
                    yield ' moves" cx="'
                    yield escape(environment.finalize(environment.getattr(l_1_mark, 'x')))
                    yield '" cy="'
                    yield escape(environment.finalize(environment.getattr(l_1_mark, 'y')))
                    yield '" r="'
                    yield escape(environment.finalize((3.5 if (environment.getattr(l_1_mark, 'what') == 'course') else 5)))
                    yield '"><title>'
                    yield escape(environment.finalize(environment.getattr(l_1_mark, 'title')))
                    yield '</title></circle>\n'
            l_1_mark = missing
            yield '<g class="labels"><rect x="0" y="0" width="'
            yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'left') - 8)))
            yield '" height="'
            yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'height') - 34)))
            yield '"/>\n'
            for l_1_lane in environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'lanes'):
                _loop_vars = {}
                pass
                yield '<text'
                if environment.getattr(l_1_lane, 'culprit'):
                    pass
                    yield ' class="culprit"'
                yield ' x="'
                yield escape(environment.finalize((environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'left') - 12)))
                yield '" y="'
                yield escape(environment.finalize((environment.getattr(l_1_lane, 'y') + 4)))
                yield '" text-anchor="end">'
                yield escape(environment.finalize(environment.getattr(l_1_lane, 'label')))
                yield '</text>'
            l_1_lane = missing
            yield '\n</g>\n</svg>\n</div>\n<p class="legend"><span class="key cause" aria-hidden="true">◆</span> the cause <span class="key followed" aria-hidden="true">●</span> what followed <span class="key finding" aria-hidden="true">●</span> other findings <span class="key course" aria-hidden="true">○</span> the job’s course. '
            yield escape(environment.finalize(environment.getattr((undefined(name='picture') if l_0_picture is missing else l_0_picture), 'axis')))
            yield '</p>\n'
        yield '<details'
        if (not (undefined(name='picture') if l_0_picture is missing else l_0_picture)):
            pass
            yield ' open'
        yield '><summary>'
        yield escape(environment.finalize(t_4(t_2(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'timeline')))))
        yield ' moments as a table</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Timeline table">\n<table>\n<caption>Moments in the order of the log. Times of different clocks are not compared.</caption>\n<thead><tr><th scope="col">Time</th><th scope="col">Rank</th><th scope="col">Host</th><th scope="col">What</th><th scope="col">Line</th><th scope="col">Text</th></tr></thead>\n<tbody>\n'
        for l_1_moment in environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'timeline')[:300]:
            _loop_vars = {}
            pass
            yield '<tr><td class="time">'
            yield escape(environment.finalize(t_3(environment.getattr(l_1_moment, 'time'))))
            yield '</td><td class="count">'
            yield escape(environment.finalize(environment.getattr(l_1_moment, 'rank')))
            yield '</td><td>'
            yield escape(environment.finalize(t_6(t_1(environment.getattr(l_1_moment, 'host'), '', True), 40)))
            yield '</td><td>'
            yield escape(environment.finalize(t_6(environment.getattr(l_1_moment, 'kind'), 60)))
            yield '</td><td class="count">'
            yield escape(environment.finalize(environment.getattr(l_1_moment, 'line')))
            yield '</td><td class="log">'
            yield escape(environment.finalize(t_6(environment.getattr(l_1_moment, 'text'), 160)))
            yield '</td></tr>\n'
        l_1_moment = missing
        yield '</tbody>\n</table>\n</div>\n'
        if ((t_2(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'timeline')) > 300) or environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'timeline')):
            pass
            yield '<p class="quiet">More moments than this page shows; the JSON report has up to 500.</p>'
        yield '</details>\n</section>\n'


def _evidence_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_copier = l_0_place = l_0_around = l_0_further = missing
    t_1 = environment.filters['length']
    t_2 = environment.filters['marked']
    t_3 = environment.filters['moment']
    t_4 = environment.filters['number']
    t_5 = environment.filters['short']
    t_6 = environment.tests['none']
    pass
    included_template = environment.get_template('parts.html.j2', 'evidence.html.j2')._get_default_module(context)
    l_0_copier = getattr(included_template, 'copier', missing)
    if l_0_copier is missing:
        l_0_copier = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'evidence.html.j2') does not export the requested name 'copier'", name='copier')
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'evidence.html.j2') does not export the requested name 'place'", name='place')
    context.vars.update({'copier': l_0_copier, 'place': l_0_place})
    context.exported_vars.difference_update(('copier', 'place'))
    def macro(l_1_lines):
        t_7 = []
        if l_1_lines is missing:
            l_1_lines = undefined("parameter 'lines' was not provided", name='lines')
        pass
        for l_2_text in l_1_lines:
            _loop_vars = {}
            pass
            t_7.extend((
                '<span class="around">',
                escape(environment.finalize(t_5(l_2_text, 400))),
                '</span>',
            ))
        l_2_text = missing
        return concat(t_7)
    context.exported_vars.add('around')
    context.vars['around'] = l_0_around = Macro(environment, macro, 'around', ('lines',), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_lines, l_1_where):
        t_8 = []
        if l_1_lines is missing:
            l_1_lines = undefined("parameter 'lines' was not provided", name='lines')
        if l_1_where is missing:
            l_1_where = undefined("parameter 'where' was not provided", name='where')
        pass
        if l_1_lines:
            pass
            t_8.extend((
                '<details><summary>',
                escape(environment.finalize(t_1(l_1_lines))),
                ' ',
                escape(environment.finalize(('line' if (t_1(l_1_lines) == 1) else 'lines'))),
                ' ',
                escape(environment.finalize(l_1_where)),
                '</summary><pre><code data-lines>',
                escape(environment.finalize(context.call((undefined(name='around') if l_0_around is missing else l_0_around), l_1_lines))),
                '</code></pre></details>\n',
            ))
        return concat(t_8)
    context.exported_vars.add('further')
    context.vars['further'] = l_0_further = Macro(environment, macro, 'further', ('lines', 'where'), False, False, False, context.eval_ctx.autoescape)
    if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'evidence'):
        pass
        yield '<section id="evidence" aria-labelledby="evidence-title">\n<h2 id="evidence-title">Evidence</h2>\n'
        l_1_loop = missing
        for l_1_line, l_1_loop in loop_context(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'evidence'), undefined):
            l_1_near = l_1_far = missing
            _loop_vars = {}
            pass
            l_1_near = (3 if (environment.getattr(l_1_loop, 'index') <= 3) else 0)
            _loop_vars['near'] = l_1_near
            l_1_far = (t_1(environment.getattr(l_1_line, 'before')) - (undefined(name='near') if l_1_near is missing else l_1_near))
            _loop_vars['far'] = l_1_far
            yield '<figure class="evidence copyable role-'
            yield escape(environment.finalize(environment.getattr(l_1_line, 'role')))
            yield '">\n<figcaption><span class="tag">'
            yield escape(environment.finalize(environment.getattr(l_1_line, 'role')))
            yield '</span> '
            yield escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), l_1_line, _loop_vars=_loop_vars)))
            yield '\n'
            if environment.getattr(l_1_line, 'time'):
                pass
                yield '<span>'
                yield escape(environment.finalize(t_3(environment.getattr(l_1_line, 'time'))))
                yield '</span>'
            if (not t_6(environment.getattr(l_1_line, 'rank'))):
                pass
                yield '<span>rank '
                yield escape(environment.finalize(environment.getattr(l_1_line, 'rank')))
                yield '</span>'
            if environment.getattr(l_1_line, 'host'):
                pass
                yield '<span>'
                yield escape(environment.finalize(environment.getattr(l_1_line, 'host')))
                yield '</span>'
            yield escape(environment.finalize(context.call((undefined(name='copier') if l_0_copier is missing else l_0_copier), 'these lines', _loop_vars=_loop_vars)))
            yield '</figcaption>\n'
            yield escape(environment.finalize(context.call((undefined(name='further') if l_0_further is missing else l_0_further), (environment.getattr(l_1_line, 'before')[:(undefined(name='far') if l_1_far is missing else l_1_far)] if ((undefined(name='far') if l_1_far is missing else l_1_far) > 0) else []), 'before', _loop_vars=_loop_vars)))
            yield '\n<pre><code data-lines>'
            yield escape(environment.finalize(context.call((undefined(name='around') if l_0_around is missing else l_0_around), environment.getattr(l_1_line, 'before')[((undefined(name='far') if l_1_far is missing else l_1_far) if ((undefined(name='far') if l_1_far is missing else l_1_far) > 0) else 0):], _loop_vars=_loop_vars)))
            yield '<span class="cited">'
            yield escape(environment.finalize(t_2(l_1_line)))
            yield '</span>'
            yield escape(environment.finalize(context.call((undefined(name='around') if l_0_around is missing else l_0_around), environment.getattr(l_1_line, 'after')[:(undefined(name='near') if l_1_near is missing else l_1_near)], _loop_vars=_loop_vars)))
            yield '</code></pre>\n'
            yield escape(environment.finalize(context.call((undefined(name='further') if l_0_further is missing else l_0_further), environment.getattr(l_1_line, 'after')[(undefined(name='near') if l_1_near is missing else l_1_near):], 'after', _loop_vars=_loop_vars)))
            yield '\n</figure>\n'
        l_1_loop = l_1_line = l_1_near = l_1_far = missing
        yield '<p class="quiet">More of the log around a line: <code>nccl-logscan show LOG:LINE -C 20</code></p>\n'
        if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'evidence'):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_4(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'evidence'))))
            yield ' more lines of evidence are left out.</p>'
        yield '</section>\n'


def _figures_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_awaited = resolve('awaited')
    l_0_gbs = l_0_figures = missing
    t_1 = environment.filters['format']
    t_2 = environment.filters['number']
    t_3 = environment.filters['short']
    t_4 = environment.filters['short_path']
    t_5 = environment.filters['size']
    pass
    def macro(l_1_spread):
        t_6 = []
        if l_1_spread is missing:
            l_1_spread = undefined("parameter 'spread' was not provided", name='spread')
        pass
        t_6.append(
            escape(environment.finalize(t_1('%.2f', environment.getattr(l_1_spread, 'mean')))),
        )
        if (environment.getattr(l_1_spread, 'count') > 1):
            pass
            t_6.extend((
                ' <span class="quiet">(',
                escape(environment.finalize(t_1('%.2f', environment.getattr(l_1_spread, 'low')))),
                '–',
                escape(environment.finalize(t_1('%.2f', environment.getattr(l_1_spread, 'high')))),
                ')</span>',
            ))
        return concat(t_6)
    context.exported_vars.add('gbs')
    context.vars['gbs'] = l_0_gbs = Macro(environment, macro, 'gbs', ('spread',), False, False, False, context.eval_ctx.autoescape)
    l_0_figures = environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'figures')
    context.vars['figures'] = l_0_figures
    context.exported_vars.add('figures')
    if (undefined(name='figures') if l_0_figures is missing else l_0_figures):
        pass
        yield '<section id="figures" aria-labelledby="figures-title">\n<h2 id="figures-title">What was measured</h2>\n'
        if environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'awaited'):
            pass
            yield '<ul class="notes">'
            for l_1_said in (undefined(name='awaited') if l_0_awaited is missing else l_0_awaited):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(l_1_said))
                yield '</li>'
            l_1_said = missing
            yield '</ul>'
        yield '\n'
        if environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'bandwidths'):
            pass
            yield '<div class="scroll" tabindex="0" role="region" aria-label="Table of bandwidths">\n<table>\n<caption>Bandwidth by collective and size, as nccl-tests defines it: algorithm bandwidth is size by time, bus bandwidth what each link carries. Means; in brackets the lowest and the highest.</caption>\n<thead><tr><th scope="col">Collective</th><th scope="col">Size</th><th scope="col">Ranks</th><th scope="col">Time, µs</th><th scope="col">Algorithm, GB/s</th><th scope="col">Bus, GB/s</th><th scope="col">Runs</th><th scope="col">Measured by</th></tr></thead>\n<tbody>\n'
            for l_1_one in environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'bandwidths'):
                _loop_vars = {}
                pass
                yield '<tr><th scope="row">'
                yield escape(environment.finalize((environment.getattr(l_1_one, 'collective') or 'not named')))
                if environment.getattr(l_1_one, 'in_place'):
                    pass
                    yield ' <span class="quiet">in place</span>'
                yield '</th><td>'
                yield escape(environment.finalize(t_5(environment.getattr(l_1_one, 'size_bytes'))))
                yield '</td><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'ranks')))
                yield '</td><td>'
                yield escape(environment.finalize(context.call((undefined(name='gbs') if l_0_gbs is missing else l_0_gbs), environment.getattr(l_1_one, 'time_us'), _loop_vars=_loop_vars)))
                yield '</td><td>'
                yield escape(environment.finalize(context.call((undefined(name='gbs') if l_0_gbs is missing else l_0_gbs), environment.getattr(l_1_one, 'algbw'), _loop_vars=_loop_vars)))
                yield '</td><td>'
                yield escape(environment.finalize(context.call((undefined(name='gbs') if l_0_gbs is missing else l_0_gbs), environment.getattr(l_1_one, 'busbw'), _loop_vars=_loop_vars)))
                yield '</td><td>'
                yield escape(environment.finalize(t_2(environment.getattr(environment.getattr(l_1_one, 'busbw'), 'count'))))
                if environment.getattr(l_1_one, 'wrong'):
                    pass
                    yield ', '
                    yield escape(environment.finalize(t_2(environment.getattr(l_1_one, 'wrong'))))
                    yield ' values wrong'
                yield '</td><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'tool')))
                yield '</td></tr>\n'
            l_1_one = missing
            yield '</tbody>\n</table>\n</div>\n'
        if environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'communication'):
            pass
            yield '<div class="scroll" tabindex="0" role="region" aria-label="Table of time in collectives">\n<table>\n<caption>Time in collectives, by the Inspector’s lines of each process. Communicators may overlap, so that a share can be above 100 %.</caption>\n<thead><tr><th scope="col">Process</th><th scope="col">Rank in its communicator</th><th scope="col">In collectives</th><th scope="col">Of</th><th scope="col">Share</th></tr></thead>\n<tbody>\n'
            for l_1_one in environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'communication'):
                _loop_vars = {}
                pass
                yield '<tr><th scope="row">'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'host')))
                yield ' '
                yield escape(environment.finalize(environment.getattr(l_1_one, 'pid')))
                yield '</th><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'rank')))
                yield '</td><td>'
                yield escape(environment.finalize(t_1('%.3f', environment.getattr(l_1_one, 'seconds'))))
                yield ' s</td><td>'
                yield escape(environment.finalize(t_1('%.3f', environment.getattr(l_1_one, 'within'))))
                yield ' s</td><td>'
                yield escape(environment.finalize(t_1('%.1f', (100 * environment.getattr(l_1_one, 'share')))))
                yield ' %</td></tr>\n'
            l_1_one = missing
            yield '</tbody>\n</table>\n</div>\n'
        if environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'choices'):
            pass
            yield '<div class="scroll" tabindex="0" role="region" aria-label="Table of NCCL’s choices">\n<table>\n<caption>What NCCL chose, by its lines of TUNING: none of it is measured, and the time is that of NCCL’s model.</caption>\n<thead><tr><th scope="col">Collective</th><th scope="col">Size</th><th scope="col">Algorithm</th><th scope="col">Protocol</th><th scope="col">Expected, µs</th></tr></thead>\n<tbody>\n'
            for l_1_one in environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'choices'):
                _loop_vars = {}
                pass
                yield '<tr><th scope="row">'
                yield escape(environment.finalize((environment.getattr(l_1_one, 'collective') or 'not named')))
                yield '</th><td>'
                yield escape(environment.finalize(t_5(environment.getattr(l_1_one, 'size_bytes'))))
                yield '</td><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'algorithm')))
                yield '</td><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'protocol')))
                yield '</td><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'predicted_us')))
                yield '</td></tr>\n'
            l_1_one = missing
            yield '</tbody>\n</table>\n</div>\n'
        if environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'gpus'):
            pass
            yield '<div class="scroll" tabindex="0" role="region" aria-label="Table of GPUs">\n<table>\n<caption>GPUs over time, by dmon: columns as it names them.</caption>\n<thead><tr><th scope="col">Input</th><th scope="col">GPU</th><th scope="col">Column</th><th scope="col">Mean (lowest–highest)</th><th scope="col">Samples</th></tr></thead>\n<tbody>\n'
            for l_1_one in environment.getattr((undefined(name='figures') if l_0_figures is missing else l_0_figures), 'gpus'):
                _loop_vars = {}
                pass
                yield '<tr><th scope="row">'
                yield escape(environment.finalize(t_4(environment.getattr(l_1_one, 'file'), 60)))
                yield '</th><td>'
                yield escape(environment.finalize(environment.getattr(l_1_one, 'gpu')))
                yield '</td><td>'
                yield escape(environment.finalize(t_3(environment.getattr(l_1_one, 'column'), 40)))
                yield '</td><td>'
                yield escape(environment.finalize(context.call((undefined(name='gbs') if l_0_gbs is missing else l_0_gbs), environment.getitem(l_1_one, 'values'), _loop_vars=_loop_vars)))
                yield '</td><td>'
                yield escape(environment.finalize(t_2(environment.getattr(environment.getitem(l_1_one, 'values'), 'count'))))
                yield '</td></tr>\n'
            l_1_one = missing
            yield '</tbody>\n</table>\n</div>\n'
        if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'figures'):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_2(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'figures'))))
            yield ' more figures are left out.</p>'
        yield '\n</section>\n'


def _graph_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_graph = resolve('graph')
    t_1 = environment.filters['number']
    pass
    if (undefined(name='graph') if l_0_graph is missing else l_0_graph):
        pass
        yield '<div class="scroll" tabindex="0" role="region" aria-label="Picture of what followed from what">\n<svg class="graph" viewBox="0 0 '
        yield escape(environment.finalize(environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'width')))
        yield ' '
        yield escape(environment.finalize(environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'height')))
        yield '" width="'
        yield escape(environment.finalize(environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'width')))
        yield '" height="'
        yield escape(environment.finalize(environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'height')))
        yield '" role="img" aria-labelledby="graph-title graph-text">\n<title id="graph-title">From the cause to what followed from it, in the order of first sight</title>\n<desc id="graph-text">'
        yield escape(environment.finalize(environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'said')))
        yield '</desc>\n'
        for l_1_edge in environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'edges'):
            _loop_vars = {}
            pass
            yield '<path class="edge" d="'
            yield escape(environment.finalize(l_1_edge))
            yield '"/>'
        l_1_edge = missing
        yield '\n'
        for l_1_node in environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'nodes'):
            _loop_vars = {}
            pass
            yield '<g class="node'
            yield escape(environment.finalize((' at-fault' if environment.getattr(l_1_node, 'is_cause') else nothing("the inline if-expression on line 9 in 'graph.html.j2' evaluated to false and no else section was defined."))))
            yield '"><rect x="'
            yield escape(environment.finalize(environment.getattr(l_1_node, 'x')))
            yield '" y="'
            yield escape(environment.finalize(environment.getattr(l_1_node, 'y')))
            yield '" width="'
            yield escape(environment.finalize(environment.getattr(l_1_node, 'width')))
            yield '" height="'
            yield escape(environment.finalize(environment.getattr(l_1_node, 'height')))
            yield '" rx="5"/>\n'
            for l_2_words in environment.getattr(l_1_node, 'words'):
                _loop_vars = {}
                pass
                yield '<text x="'
                yield escape(environment.finalize((environment.getattr(l_1_node, 'x') + 10)))
                yield '" y="'
                yield escape(environment.finalize(environment.getattr(l_2_words, 'y')))
                yield '"'
                if environment.getattr(l_2_words, 'is_title'):
                    pass
                    yield ' class="name"'
                yield '>'
                yield escape(environment.finalize(environment.getattr(l_2_words, 'text')))
                yield '</text>'
            l_2_words = missing
            yield '\n</g>\n'
        l_1_node = missing
        yield '</svg>\n</div>\n'
        if environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'left_out'):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_1(environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'left_out'))))
            yield ' more '
            yield escape(environment.finalize(('kind' if (environment.getattr((undefined(name='graph') if l_0_graph is missing else l_0_graph), 'left_out') == 1) else 'kinds')))
            yield ' of symptoms have no box.</p>'


def _job_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_fact = l_0_place = l_0_job = l_0_known = l_0_apart = l_0_differing = l_0_harmless = l_0_names = l_0_alike = l_0_versions = l_0_rows = missing
    t_1 = environment.filters['join']
    t_2 = environment.filters['length']
    t_3 = environment.filters['list']
    t_4 = environment.filters['map']
    t_5 = environment.filters['number']
    t_6 = environment.filters['ranks']
    t_7 = environment.filters['rejectattr']
    t_8 = environment.filters['selectattr']
    t_9 = environment.filters['short']
    t_10 = environment.filters['short_path']
    pass
    included_template = environment.get_template('parts.html.j2', 'job.html.j2')._get_default_module(context)
    l_0_fact = getattr(included_template, 'fact', missing)
    if l_0_fact is missing:
        l_0_fact = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'job.html.j2') does not export the requested name 'fact'", name='fact')
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'job.html.j2') does not export the requested name 'place'", name='place')
    context.vars.update({'fact': l_0_fact, 'place': l_0_place})
    context.exported_vars.difference_update(('fact', 'place'))
    l_0_job = environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job')
    context.vars['job'] = l_0_job
    context.exported_vars.add('job')
    yield '<section id="job" aria-labelledby="job-title">\n<h2 id="job-title">The job, as the log shows it</h2>\n'
    l_0_known = ((((((environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'nccl_versions') or environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'torch_versions')) or environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'cuda_driver')) or environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'world_size')) or environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'network')) or environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts')) or environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'ranks_seen'))
    context.vars['known'] = l_0_known
    context.exported_vars.add('known')
    if (not (undefined(name='known') if l_0_known is missing else l_0_known)):
        pass
        yield '<p>The log says nothing of the job itself.</p>'
    yield '<dl class="facts">\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'World size', environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'world_size'))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Hosts', (t_2(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts')) if environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts') else None))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Ranks that wrote', (t_6(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'ranks_seen')) if environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'ranks_seen') else None))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Ranks that never spoke', (t_6(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'ranks_silent')) if environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'ranks_silent') else None))))
    yield '\n</dl>\n'
    def macro(l_1_difference):
        t_11 = []
        if l_1_difference is missing:
            l_1_difference = undefined("parameter 'difference' was not provided", name='difference')
        pass
        l_2_loop = missing
        for l_2_value, l_2_loop in loop_context(environment.getitem(l_1_difference, 'values'), undefined):
            _loop_vars = {}
            pass
            t_11.append(
                '<tr',
            )
            if (not environment.getattr(l_1_difference, 'harmless')):
                pass
                t_11.append(
                    ' class="differs"',
                )
            t_11.append(
                '>',
            )
            if environment.getattr(l_2_loop, 'first'):
                pass
                t_11.extend((
                    '<th scope="rowgroup" rowspan="',
                    escape(environment.finalize(t_2(environment.getitem(l_1_difference, 'values')))),
                    '">',
                    escape(environment.finalize(t_9(environment.getattr(l_1_difference, 'name'), 80))),
                    '<span class="apart">',
                    escape(environment.finalize(('differs, and may' if environment.getattr(l_1_difference, 'harmless') else 'differs'))),
                    '</span>',
                ))
                if environment.getattr(l_1_difference, 'why'):
                    pass
                    t_11.extend((
                        '<span class="why">',
                        escape(environment.finalize(environment.getattr(l_1_difference, 'why'))),
                        '</span>',
                    ))
                t_11.append(
                    '</th>',
                )
            t_11.extend((
                '<td><code>',
                escape(environment.finalize(t_9(environment.getattr(l_2_value, 'value'), 200))),
                '</code></td><td>',
                escape(environment.finalize(t_1(context.eval_ctx, environment.getattr(l_2_value, 'who')[:8], ', '))),
            ))
            if (environment.getattr(l_2_value, 'who_count') > 8):
                pass
                t_11.extend((
                    ' … (',
                    escape(environment.finalize(t_5(environment.getattr(l_2_value, 'who_count')))),
                    ' in all)',
                ))
            t_11.append(
                '</td></tr>\n',
            )
        l_2_loop = l_2_value = missing
        return concat(t_11)
    context.exported_vars.add('apart')
    context.vars['apart'] = l_0_apart = Macro(environment, macro, 'apart', ('difference',), False, False, False, context.eval_ctx.autoescape)
    l_0_differing = t_3(context.eval_ctx, t_7(context, environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'differs_between_hosts'), 'harmless'))
    context.vars['differing'] = l_0_differing
    context.exported_vars.add('differing')
    l_0_harmless = t_3(context.eval_ctx, t_8(context, environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'differs_between_hosts'), 'harmless'))
    context.vars['harmless'] = l_0_harmless
    context.exported_vars.add('harmless')
    l_0_names = t_3(context.eval_ctx, t_4(context, environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'differs_between_hosts'), attribute='name'))
    context.vars['names'] = l_0_names
    context.exported_vars.add('names')
    l_0_alike = t_3(context.eval_ctx, t_7(context, environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'seen'), 'name', 'in', (undefined(name='names') if l_0_names is missing else l_0_names)))
    context.vars['alike'] = l_0_alike
    context.exported_vars.add('alike')
    l_0_versions = t_3(context.eval_ctx, t_7(context, t_8(context, [{'name': 'NCCL', 'values': environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'nccl_versions')}, {'name': 'PyTorch', 'values': environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'torch_versions')}, {'name': 'CUDA driver', 'values': environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'cuda_driver')}, {'name': 'network', 'values': environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'network')}], 'values'), 'name', 'in', (undefined(name='names') if l_0_names is missing else l_0_names)))
    context.vars['versions'] = l_0_versions
    context.exported_vars.add('versions')
    l_0_rows = ((t_2((undefined(name='names') if l_0_names is missing else l_0_names)) + t_2((undefined(name='versions') if l_0_versions is missing else l_0_versions))) + t_2((undefined(name='alike') if l_0_alike is missing else l_0_alike)))
    context.vars['rows'] = l_0_rows
    context.exported_vars.add('rows')
    if (undefined(name='rows') if l_0_rows is missing else l_0_rows):
        pass
        yield '<h3>Environment</h3>\n<details'
        if ((undefined(name='differing') if l_0_differing is missing else l_0_differing) or ((undefined(name='rows') if l_0_rows is missing else l_0_rows) <= 24)):
            pass
            yield ' open'
        yield '><summary>'
        yield escape(environment.finalize(t_5((undefined(name='rows') if l_0_rows is missing else l_0_rows))))
        yield ' '
        yield escape(environment.finalize(('setting or version' if ((undefined(name='rows') if l_0_rows is missing else l_0_rows) == 1) else 'settings and versions')))
        if (undefined(name='names') if l_0_names is missing else l_0_names):
            pass
            yield ', '
            yield escape(environment.finalize(t_5(t_2((undefined(name='names') if l_0_names is missing else l_0_names)))))
            yield ' of which '
            yield escape(environment.finalize(('differs' if (t_2((undefined(name='names') if l_0_names is missing else l_0_names)) == 1) else 'differ')))
            yield ' between hosts or ranks'
            if (not (undefined(name='differing') if l_0_differing is missing else l_0_differing)):
                pass
                yield ' and may'
        yield '</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Environment">\n<table class="environment">\n<caption>'
        if (undefined(name='names') if l_0_names is missing else l_0_names):
            pass
            yield 'What differs comes first, each value with who has it, the most common first. The rest is the same wherever the log tells it.'
        else:
            pass
            yield 'The same wherever the log tells it.'
        yield '</caption>\n<thead><tr><th scope="col">Setting or version</th><th scope="col">Value</th><th scope="col">Who has it, or where it is set</th></tr></thead>\n'
        for l_1_difference in (undefined(name='differing') if l_0_differing is missing else l_0_differing):
            _loop_vars = {}
            pass
            yield '<tbody>\n'
            yield escape(environment.finalize(context.call((undefined(name='apart') if l_0_apart is missing else l_0_apart), l_1_difference, _loop_vars=_loop_vars)))
            yield '\n</tbody>\n'
        l_1_difference = missing
        for l_1_difference in (undefined(name='harmless') if l_0_harmless is missing else l_0_harmless):
            _loop_vars = {}
            pass
            yield '<tbody>\n'
            yield escape(environment.finalize(context.call((undefined(name='apart') if l_0_apart is missing else l_0_apart), l_1_difference, _loop_vars=_loop_vars)))
            yield '\n</tbody>\n'
        l_1_difference = missing
        if ((undefined(name='versions') if l_0_versions is missing else l_0_versions) or (undefined(name='alike') if l_0_alike is missing else l_0_alike)):
            pass
            yield '<tbody>\n'
            for l_1_version in (undefined(name='versions') if l_0_versions is missing else l_0_versions):
                _loop_vars = {}
                pass
                yield '<tr><th scope="row">'
                yield escape(environment.finalize(environment.getattr(l_1_version, 'name')))
                yield '</th><td><code>'
                yield escape(environment.finalize(t_9(t_1(context.eval_ctx, environment.getitem(l_1_version, 'values'), ', '), 200)))
                yield '</code></td><td>'
                yield escape(environment.finalize(('all that tell it' if (t_2(environment.getitem(l_1_version, 'values')) == 1) else 'several; the log does not say whose')))
                yield '</td></tr>\n'
            l_1_version = missing
            for l_1_setting in (undefined(name='alike') if l_0_alike is missing else l_0_alike)[:200]:
                _loop_vars = {}
                pass
                yield '<tr><th scope="row">'
                yield escape(environment.finalize(environment.getattr(l_1_setting, 'name')))
                yield '</th><td><code>'
                yield escape(environment.finalize(t_9(environment.getattr(l_1_setting, 'value'), 200)))
                yield '</code></td><td>'
                yield escape(environment.finalize(t_10(environment.getattr(l_1_setting, 'origin'), 80)))
                yield ' '
                yield escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), l_1_setting, _loop_vars=_loop_vars)))
                yield '</td></tr>\n'
            l_1_setting = missing
            yield '</tbody>\n'
        yield '</table>\n</div>\n'
        if (t_2((undefined(name='alike') if l_0_alike is missing else l_0_alike)) > 200):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_5((t_2((undefined(name='alike') if l_0_alike is missing else l_0_alike)) - 200))))
            yield ' more are in the JSON report.</p>'
        yield '</details>\n'
    if environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts'):
        pass
        yield '<details><summary>'
        yield escape(environment.finalize(t_5(t_2(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts')))))
        yield ' '
        yield escape(environment.finalize(('host' if (t_2(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts')) == 1) else 'hosts')))
        yield '</summary>\n<p class="names">'
        for l_1_host in environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts')[:256]:
            _loop_vars = {}
            pass
            yield '<span>'
            yield escape(environment.finalize(t_9(l_1_host, 80)))
            yield '</span> '
        l_1_host = missing
        if (t_2(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'hosts')) > 256):
            pass
            yield '…'
        yield '</p>\n</details>\n'
    if environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'communicators'):
        pass
        yield '<details><summary>'
        yield escape(environment.finalize(t_5(t_2(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'communicators')))))
        yield ' '
        yield escape(environment.finalize(('communicator' if (t_2(environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'communicators')) == 1) else 'communicators')))
        yield '</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Communicators">\n<table>\n<caption>Set-up by communicator; ranks are those within it.</caption>\n<thead><tr><th scope="col">Id</th><th scope="col">Size</th><th scope="col">Began</th><th scope="col">Finished</th></tr></thead>\n<tbody>\n'
        for l_1_communicator in environment.getattr((undefined(name='job') if l_0_job is missing else l_0_job), 'communicators')[:64]:
            _loop_vars = {}
            pass
            yield '<tr><td><code>'
            yield escape(environment.finalize(environment.getattr(l_1_communicator, 'id')))
            yield '</code></td><td class="count">'
            yield escape(environment.finalize(environment.getattr(l_1_communicator, 'nranks')))
            yield '</td><td class="ranks">'
            yield escape(environment.finalize(t_6(environment.getattr(l_1_communicator, 'started'), environment.getattr(l_1_communicator, 'started_count'))))
            yield '</td><td class="ranks">'
            yield escape(environment.finalize(t_6(environment.getattr(l_1_communicator, 'completed'), environment.getattr(l_1_communicator, 'completed_count'))))
            yield '</td></tr>\n'
        l_1_communicator = missing
        yield '</tbody>\n</table>\n</div>\n</details>\n'
    yield '</section>'


def _machines_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_unlike = resolve('unlike')
    l_0_fact = l_0_gpu = l_0_hosts_named = l_0_where = l_0_path = l_0_map = l_0_host_count = l_0_links = l_0_has_paths = l_0_has_links = missing
    t_1 = environment.filters['dictsort']
    t_2 = environment.filters['join']
    t_3 = environment.filters['length']
    t_4 = environment.filters['list']
    t_5 = environment.filters['number']
    t_6 = environment.filters['ranks']
    t_7 = environment.filters['selectattr']
    t_8 = environment.filters['sentence']
    t_9 = environment.filters['short']
    t_10 = environment.tests['none']
    pass
    included_template = environment.get_template('parts.html.j2', 'machines.html.j2')._get_default_module(context)
    l_0_fact = getattr(included_template, 'fact', missing)
    if l_0_fact is missing:
        l_0_fact = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'machines.html.j2') does not export the requested name 'fact'", name='fact')
    context.vars['fact'] = l_0_fact
    context.exported_vars.discard('fact')
    def macro(l_1_seat, l_1_verdict):
        t_11 = []
        if l_1_seat is missing:
            l_1_seat = undefined("parameter 'seat' was not provided", name='seat')
        if l_1_verdict is missing:
            l_1_verdict = undefined("parameter 'verdict' was not provided", name='verdict')
        pass
        t_11.append(
            '<li',
        )
        if environment.getattr(l_1_seat, 'culprit'):
            pass
            t_11.append(
                ' class="culprit"',
            )
        t_11.append(
            '>',
        )
        if (not t_10(environment.getattr(l_1_seat, 'rank'))):
            pass
            t_11.extend((
                '<strong>rank ',
                escape(environment.finalize(environment.getattr(l_1_seat, 'rank'))),
                '</strong>',
            ))
        if (not t_10(environment.getattr(l_1_seat, 'device'))):
            pass
            t_11.extend((
                '<span>CUDA ',
                escape(environment.finalize(environment.getattr(l_1_seat, 'device'))),
            ))
            if ((not t_10(environment.getattr(l_1_seat, 'nvml_device'))) and (environment.getattr(l_1_seat, 'nvml_device') != environment.getattr(l_1_seat, 'device'))):
                pass
                t_11.extend((
                    ', nvidia-smi ',
                    escape(environment.finalize(environment.getattr(l_1_seat, 'nvml_device'))),
                ))
            t_11.append(
                '</span>',
            )
        if environment.getattr(l_1_seat, 'bus_id'):
            pass
            t_11.extend((
                '<code>',
                escape(environment.finalize(t_9(environment.getattr(l_1_seat, 'bus_id'), 40))),
                '</code>',
            ))
        if environment.getattr(l_1_seat, 'adapters'):
            pass
            t_11.extend((
                '<span>uses ',
                escape(environment.finalize(t_2(context.eval_ctx, environment.getattr(l_1_seat, 'adapters')[:8], ', '))),
                '</span>',
            ))
        if environment.getattr(l_1_seat, 'culprit'):
            pass
            t_11.extend((
                '<span class="here">',
                escape(environment.finalize(l_1_verdict)),
                '</span>',
            ))
        t_11.append(
            '</li>\n',
        )
        return concat(t_11)
    context.exported_vars.add('gpu')
    context.vars['gpu'] = l_0_gpu = Macro(environment, macro, 'gpu', ('seat', 'verdict'), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_row):
        t_12 = []
        if l_1_row is missing:
            l_1_row = undefined("parameter 'row' was not provided", name='row')
        pass
        if (environment.getattr(l_1_row, 'host_count') > 1):
            pass
            t_12.extend((
                escape(environment.finalize(t_5(environment.getattr(l_1_row, 'host_count')))),
                ' hosts, all alike <span class="quiet">',
                escape(environment.finalize(t_2(context.eval_ctx, environment.getattr(l_1_row, 'hosts')[:3], ', '))),
            ))
            if (environment.getattr(l_1_row, 'host_count') > 3):
                pass
                t_12.extend((
                    ' … ',
                    escape(environment.finalize(environment.getitem(environment.getattr(l_1_row, 'hosts'), -1))),
                ))
            t_12.append(
                '</span>',
            )
        else:
            pass
            t_12.append(
                escape(environment.finalize(t_9(environment.getitem(environment.getattr(l_1_row, 'hosts'), 0), 80))),
            )
        return concat(t_12)
    context.exported_vars.add('hosts_named')
    context.vars['hosts_named'] = l_0_hosts_named = Macro(environment, macro, 'hosts_named', ('row',), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_entry, l_1_hosts):
        t_13 = []
        if l_1_entry is missing:
            l_1_entry = undefined("parameter 'entry' was not provided", name='entry')
        if l_1_hosts is missing:
            l_1_hosts = undefined("parameter 'hosts' was not provided", name='hosts')
        pass
        if ((environment.getattr(l_1_entry, 'who_count') == l_1_hosts) and (l_1_hosts > 4)):
            pass
            t_13.extend((
                'all ',
                escape(environment.finalize(t_5(l_1_hosts))),
                ' hosts',
            ))
        else:
            pass
            t_13.append(
                escape(environment.finalize(t_2(context.eval_ctx, environment.getattr(l_1_entry, 'who')[:4], ', '))),
            )
            if (environment.getattr(l_1_entry, 'who_count') > 4):
                pass
                t_13.extend((
                    ' … (',
                    escape(environment.finalize(t_5(environment.getattr(l_1_entry, 'who_count')))),
                    ' in all)',
                ))
        return concat(t_13)
    context.exported_vars.add('where')
    context.vars['where'] = l_0_where = Macro(environment, macro, 'where', ('entry', 'hosts'), False, False, False, context.eval_ctx.autoescape)
    def macro(l_1_name):
        t_14 = []
        l_1_said = missing
        if l_1_name is missing:
            l_1_name = undefined("parameter 'name' was not provided", name='name')
        pass
        t_14.append(
            escape(environment.finalize(l_1_name)),
        )
        l_1_said = context.call(environment.getattr({'LOC': 'the same device', 'NVL': 'NVLink', 'NVB': 'NVLink by way of another GPU', 'C2C': 'chip to chip', 'PIX': 'one PCIe bridge at most', 'PXB': 'several PCIe bridges', 'P2C': 'C2C by way of a CPU', 'PXN': 'NVLink to the GPU beside the adapter', 'PHB': 'the CPU’s PCIe host bridge', 'SYS': 'between CPUs', 'NET': 'the network', 'DIS': 'none'}, 'get'), l_1_name)
        if (undefined(name='said') if l_1_said is missing else l_1_said):
            pass
            t_14.extend((
                ' <span class="quiet">(',
                escape(environment.finalize((undefined(name='said') if l_1_said is missing else l_1_said))),
                ')</span>',
            ))
        return concat(t_14)
    context.exported_vars.add('path')
    context.vars['path'] = l_0_path = Macro(environment, macro, 'path', ('name',), False, False, False, context.eval_ctx.autoescape)
    l_0_map = environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'machines')
    context.vars['map'] = l_0_map
    context.exported_vars.add('map')
    l_0_host_count = (environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'host_count') if (undefined(name='map') if l_0_map is missing else l_0_map) else 0)
    context.vars['host_count'] = l_0_host_count
    context.exported_vars.add('host_count')
    l_0_links = environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'links')
    context.vars['links'] = l_0_links
    context.exported_vars.add('links')
    l_0_has_paths = (environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'systems') or environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'graphs'))
    context.vars['has_paths'] = l_0_has_paths
    context.exported_vars.add('has_paths')
    l_0_has_links = (((environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'systems') or environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'graphs')) or environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'channels')) or environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'topology'))
    context.vars['has_links'] = l_0_has_links
    context.exported_vars.add('has_links')
    if ((undefined(name='map') if l_0_map is missing else l_0_map) or (undefined(name='has_links') if l_0_has_links is missing else l_0_has_links)):
        pass
        yield '<section id="machines" aria-labelledby="machines-title">\n<h2 id="machines-title">Hosts, GPUs and adapters</h2>\n'
        if (undefined(name='map') if l_0_map is missing else l_0_map):
            pass
            if environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'notes'):
                pass
                yield '<ul class="notes">'
                for l_1_note in environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'notes'):
                    _loop_vars = {}
                    pass
                    yield '<li>'
                    yield escape(environment.finalize(l_1_note))
                    yield '</li>'
                l_1_note = missing
                yield '</ul>'
            yield '\n'
            l_0_unlike = t_4(context.eval_ctx, t_7(context, environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'rows'), 'differs'))
            context.vars['unlike'] = l_0_unlike
            context.exported_vars.add('unlike')
            yield '<div class="scroll" tabindex="0" role="region" aria-label="Map of hosts, ranks, GPUs and adapters">\n<table class="machines">\n<caption>'
            yield escape(environment.finalize(t_5(environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'host_count'))))
            yield ' '
            yield escape(environment.finalize(('host' if (environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'host_count') == 1) else 'hosts')))
            if environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'rank_count'):
                pass
                yield ' and '
                yield escape(environment.finalize(t_5(environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'rank_count'))))
                yield ' '
                yield escape(environment.finalize(('rank' if (environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'rank_count') == 1) else 'ranks')))
            yield ', as NCCL’s lines of set-up show them.'
            if (t_3(environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'rows')) > 1):
                pass
                yield ' '
                yield escape(environment.finalize(('The host at fault comes first, then those unlike most others.' if (environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'host_count') > 4) else 'The host at fault comes first.')))
            yield '</caption>\n<thead><tr><th scope="col">Host</th><th scope="col">Ranks and their GPUs</th><th scope="col">Adapters</th>'
            if (undefined(name='unlike') if l_0_unlike is missing else l_0_unlike):
                pass
                yield '<th scope="col">Unlike most hosts</th>'
            yield '</tr></thead>\n<tbody>\n'
            for l_1_row in environment.getattr((undefined(name='map') if l_0_map is missing else l_0_map), 'rows'):
                _loop_vars = {}
                pass
                yield '<tr'
                if environment.getattr(l_1_row, 'culprit'):
                    pass
                    yield ' class="culprit"'
                yield '><th scope="row">'
                yield escape(environment.finalize(context.call((undefined(name='hosts_named') if l_0_hosts_named is missing else l_0_hosts_named), l_1_row, _loop_vars=_loop_vars)))
                if environment.getattr(l_1_row, 'culprit'):
                    pass
                    yield '<span class="here">the failure began on this host</span>'
                yield '</th>\n<td>'
                if environment.getattr(l_1_row, 'rank_count'):
                    pass
                    if (environment.getattr(l_1_row, 'host_count') > 1):
                        pass
                        yield '<p>Ranks '
                        yield escape(environment.finalize(t_6(environment.getattr(l_1_row, 'ranks'), environment.getattr(l_1_row, 'rank_count'))))
                        yield '; on each host:</p>'
                    yield '<ul class="gpus">'
                    for l_2_seat in environment.getattr(l_1_row, 'gpus'):
                        _loop_vars = {}
                        pass
                        yield escape(environment.finalize(context.call((undefined(name='gpu') if l_0_gpu is missing else l_0_gpu), l_2_seat, 'failure began here', _loop_vars=_loop_vars)))
                    l_2_seat = missing
                    yield '</ul>'
                    if (environment.getattr(l_1_row, 'gpu_count') > t_3(environment.getattr(l_1_row, 'gpus'))):
                        pass
                        yield '<p class="quiet">and '
                        yield escape(environment.finalize(t_5((environment.getattr(l_1_row, 'gpu_count') - t_3(environment.getattr(l_1_row, 'gpus'))))))
                        yield ' more ranks: '
                        yield escape(environment.finalize(t_6(environment.getattr(l_1_row, 'ranks'), environment.getattr(l_1_row, 'rank_count'))))
                        yield '</p>'
                else:
                    pass
                    yield '<span class="quiet">no rank is told</span>'
                yield '</td>\n<td class="adapters">'
                if environment.getattr(l_1_row, 'adapters'):
                    pass
                    yield '<ul>'
                    for l_2_adapter in environment.getattr(l_1_row, 'adapters')[:16]:
                        _loop_vars = {}
                        pass
                        yield '<li'
                        if (l_2_adapter == environment.getattr(l_1_row, 'culprit_adapter')):
                            pass
                            yield ' class="culprit"'
                        yield '><code>'
                        yield escape(environment.finalize(t_9(l_2_adapter, 60)))
                        yield '</code>'
                        if (l_2_adapter == environment.getattr(l_1_row, 'culprit_adapter')):
                            pass
                            yield '<span class="here">failure began here</span>'
                        yield '</li>'
                    l_2_adapter = missing
                    yield '</ul>'
                    if (t_3(environment.getattr(l_1_row, 'adapters')) > 16):
                        pass
                        yield '<p class="quiet">and '
                        yield escape(environment.finalize((t_3(environment.getattr(l_1_row, 'adapters')) - 16)))
                        yield ' more</p>'
                else:
                    pass
                    yield '<span class="quiet">not told</span>'
                if ((environment.getattr(l_1_row, 'culprit') and environment.getattr(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'culprit'), 'adapter')) and (not environment.getattr(l_1_row, 'culprit_adapter'))):
                    pass
                    yield '<p><span class="here">failure began at <code>'
                    yield escape(environment.finalize(t_9(environment.getattr(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'culprit'), 'adapter'), 60)))
                    yield '</code>, which NCCL does not list here</span></p>'
                yield '</td>\n'
                if (undefined(name='unlike') if l_0_unlike is missing else l_0_unlike):
                    pass
                    yield '<td class="unlike">'
                    if environment.getattr(l_1_row, 'differs'):
                        pass
                        yield '<ul>'
                        for l_2_difference in environment.getattr(l_1_row, 'differs'):
                            _loop_vars = {}
                            pass
                            yield '<li>'
                            yield escape(environment.finalize(l_2_difference))
                            yield '</li>'
                        l_2_difference = missing
                        yield '</ul>'
                    yield '</td>'
                yield '</tr>\n'
            l_1_row = missing
            yield '</tbody>\n</table>\n</div>\n'
            if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'machines'):
                pass
                yield '<p class="quiet">'
                yield escape(environment.finalize(t_5(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'machines'))))
                yield ' more hosts are left out.</p>'
            if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'ranks_silent'):
                pass
                yield '<p class="quiet">Not on the map, since they wrote nothing: '
                yield escape(environment.finalize(('rank' if (t_3(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'ranks_silent')) == 1) else 'ranks')))
                yield ' '
                yield escape(environment.finalize(t_6(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'ranks_silent'))))
                yield '.</p>'
        if (undefined(name='has_links') if l_0_has_links is missing else l_0_has_links):
            pass
            yield '<details><summary>Bandwidth, paths and transports that NCCL printed</summary>\n'
            if ((environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'systems') or environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'graphs')) or environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'channels')):
                pass
                yield '<div class="scroll" tabindex="0" role="region" aria-label="Bandwidth and paths">\n<table'
                if (undefined(name='has_paths') if l_0_has_paths is missing else l_0_has_paths):
                    pass
                    yield ' class="links"'
                yield '>\n<caption>'
                if (undefined(name='has_paths') if l_0_has_paths is missing else l_0_has_paths):
                    pass
                    yield 'Bandwidths are what NCCL counts with when it plans, in GB/s, and no measurement.'
                else:
                    pass
                    yield 'With NCCL_DEBUG_SUBSYS=INIT,GRAPH NCCL also prints the bandwidths that it counts with.'
                yield '</caption>\n<thead><tr><th scope="col">What</th><th scope="col">Channels</th>'
                if (undefined(name='has_paths') if l_0_has_paths is missing else l_0_has_paths):
                    pass
                    yield '<th scope="col">Bandwidth</th><th scope="col">Longest path</th>'
                yield '<th scope="col">Where</th></tr></thead>\n<tbody>\n'
                for l_1_system in environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'systems'):
                    _loop_vars = {}
                    pass
                    yield '<tr><td>the host as a whole</td><td></td><td class="count">'
                    yield escape(environment.finalize(environment.getattr(l_1_system, 'largest')))
                    yield ' at most, '
                    yield escape(environment.finalize(environment.getattr(l_1_system, 'total')))
                    yield ' in all</td><td></td><td>'
                    yield escape(environment.finalize(context.call((undefined(name='where') if l_0_where is missing else l_0_where), l_1_system, (undefined(name='host_count') if l_0_host_count is missing else l_0_host_count), _loop_vars=_loop_vars)))
                    yield '</td></tr>\n'
                l_1_system = missing
                for l_1_graph in environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'graphs'):
                    _loop_vars = {}
                    pass
                    yield '<tr><td>'
                    if environment.getattr(l_1_graph, 'name'):
                        pass
                        yield escape(environment.finalize(environment.getattr(l_1_graph, 'name')))
                        yield ' <span class="quiet">(pattern '
                        yield escape(environment.finalize(environment.getattr(l_1_graph, 'pattern')))
                        yield ')</span>'
                    else:
                        pass
                        yield 'pattern '
                        yield escape(environment.finalize(environment.getattr(l_1_graph, 'pattern')))
                    if environment.getattr(l_1_graph, 'remark'):
                        pass
                        yield '<p><strong>'
                        yield escape(environment.finalize(t_8(environment.getattr(l_1_graph, 'remark'))))
                        yield '</strong></p>'
                    yield '</td><td class="count">'
                    yield escape(environment.finalize(environment.getattr(l_1_graph, 'channels')))
                    yield '</td><td class="count">'
                    yield escape(environment.finalize(environment.getattr(l_1_graph, 'bandwidth_within')))
                    yield ' in the host, '
                    yield escape(environment.finalize(environment.getattr(l_1_graph, 'bandwidth_between')))
                    yield ' between hosts</td><td>'
                    yield escape(environment.finalize(context.call((undefined(name='path') if l_0_path is missing else l_0_path), environment.getattr(l_1_graph, 'path_within'), _loop_vars=_loop_vars)))
                    yield ' between GPUs, '
                    yield escape(environment.finalize(context.call((undefined(name='path') if l_0_path is missing else l_0_path), environment.getattr(l_1_graph, 'path_between'), _loop_vars=_loop_vars)))
                    yield ' to the adapter</td><td>'
                    yield escape(environment.finalize(context.call((undefined(name='where') if l_0_where is missing else l_0_where), l_1_graph, (undefined(name='host_count') if l_0_host_count is missing else l_0_host_count), _loop_vars=_loop_vars)))
                    yield '</td></tr>\n'
                l_1_graph = missing
                for l_1_channels in environment.getattr((undefined(name='links') if l_0_links is missing else l_0_links), 'channels'):
                    _loop_vars = {}
                    pass
                    yield '<tr><td>a process’s first communicator</td><td>'
                    yield escape(environment.finalize(environment.getattr(l_1_channels, 'collective')))
                    yield ' for collectives'
                    if environment.getattr(l_1_channels, 'collnet'):
                        pass
                        yield ', '
                        yield escape(environment.finalize(environment.getattr(l_1_channels, 'collnet')))
                        yield ' CollNet'
                    if environment.getattr(l_1_channels, 'nvls'):
                        pass
                        yield ', '
                        yield escape(environment.finalize(environment.getattr(l_1_channels, 'nvls')))
                        yield ' NVLS'
                    if (not t_10(environment.getattr(l_1_channels, 'point_to_point'))):
                        pass
                        yield '; '
                        yield escape(environment.finalize(environment.getattr(l_1_channels, 'point_to_point')))
                        yield ' for send and receive, '
                        yield escape(environment.finalize(environment.getattr(l_1_channels, 'per_peer')))
                        yield ' per peer'
                    yield '</td>'
                    if (undefined(name='has_paths') if l_0_has_paths is missing else l_0_has_paths):
                        pass
                        yield '<td></td><td></td>'
                    yield '<td>'
                    yield escape(environment.finalize(context.call((undefined(name='where') if l_0_where is missing else l_0_where), l_1_channels, (undefined(name='host_count') if l_0_host_count is missing else l_0_host_count), _loop_vars=_loop_vars)))
                    yield '</td></tr>\n'
                l_1_channels = missing
                yield '</tbody>\n</table>\n</div>\n'
            if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'topology'):
                pass
                yield '<h3>Connections by transport</h3>\n<dl class="facts">\n'
                for (l_1_name, l_1_value) in t_1(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'job'), 'topology')):
                    _loop_vars = {}
                    pass
                    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), t_9(l_1_name, 80), t_9(l_1_value, 200), _loop_vars=_loop_vars)))
                    yield '\n'
                l_1_name = l_1_value = missing
                yield '</dl>\n'
            yield '</details>\n'
        yield '</section>\n'


def _parts_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_place = l_0_fact = l_0_copier = l_0_command = l_0_diff = l_0_applied_diff = l_0_change = l_0_step = missing
    t_1 = environment.filters['changes']
    t_2 = environment.filters['is_number']
    t_3 = environment.filters['lines']
    t_4 = environment.filters['link']
    t_5 = environment.filters['short']
    t_6 = environment.tests['none']
    pass
    def macro(l_1_at):
        t_7 = []
        if l_1_at is missing:
            l_1_at = undefined("parameter 'at' was not provided", name='at')
        pass
        t_7.extend((
            '<code class="place">',
            escape(environment.finalize(environment.getattr(l_1_at, 'file'))),
        ))
        if environment.getattr(l_1_at, 'line'):
            pass
            t_7.extend((
                ':',
                escape(environment.finalize(environment.getattr(l_1_at, 'line'))),
            ))
        t_7.append(
            '</code>',
        )
        return concat(t_7)
    context.exported_vars.add('place')
    context.vars['place'] = l_0_place = Macro(environment, macro, 'place', ('at',), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_name, l_1_value):
        t_8 = []
        if l_1_name is missing:
            l_1_name = undefined("parameter 'name' was not provided", name='name')
        if l_1_value is missing:
            l_1_value = undefined("parameter 'value' was not provided", name='value')
        pass
        if ((not t_6(l_1_value)) and (l_1_value != '')):
            pass
            t_8.extend((
                '<div><dt>',
                escape(environment.finalize(l_1_name)),
                '</dt><dd>',
                escape(environment.finalize(l_1_value)),
                '</dd></div>\n',
            ))
        return concat(t_8)
    context.exported_vars.add('fact')
    context.vars['fact'] = l_0_fact = Macro(environment, macro, 'fact', ('name', 'value'), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_what):
        t_9 = []
        if l_1_what is missing:
            l_1_what = undefined("parameter 'what' was not provided", name='what')
        pass
        t_9.extend((
            '<button class="copy" type="button" hidden><span>Copy</span><span class="visually-hidden"> ',
            escape(environment.finalize(l_1_what)),
            '</span></button>',
        ))
        return concat(t_9)
    context.exported_vars.add('copier')
    context.vars['copier'] = l_0_copier = Macro(environment, macro, 'copier', ('what',), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_text):
        t_10 = []
        if l_1_text is missing:
            l_1_text = undefined("parameter 'text' was not provided", name='text')
        pass
        if l_1_text:
            pass
            t_10.extend((
                '<div class="copyable boxed"><pre class="command"><code data-lines>',
                escape(environment.finalize(t_3(l_1_text))),
                '</code></pre>',
                escape(environment.finalize(context.call((undefined(name='copier') if l_0_copier is missing else l_0_copier), 'the command'))),
                '</div>\n',
            ))
        return concat(t_10)
    context.exported_vars.add('command')
    context.vars['command'] = l_0_command = Macro(environment, macro, 'command', ('text',), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_text):
        t_11 = []
        if l_1_text is missing:
            l_1_text = undefined("parameter 'text' was not provided", name='text')
        pass
        if l_1_text:
            pass
            t_11.extend((
                '<div class="copyable boxed"><pre class="diff" tabindex="0" role="group" aria-label="The change as a diff"><code data-lines>',
                escape(environment.finalize(t_1(l_1_text))),
                '</code></pre>',
                escape(environment.finalize(context.call((undefined(name='copier') if l_0_copier is missing else l_0_copier), 'the diff'))),
                '</div>\n',
            ))
        return concat(t_11)
    context.exported_vars.add('diff')
    context.vars['diff'] = l_0_diff = Macro(environment, macro, 'diff', ('text',), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_text):
        t_12 = []
        if l_1_text is missing:
            l_1_text = undefined("parameter 'text' was not provided", name='text')
        pass
        if l_1_text:
            pass
            t_12.extend((
                escape(environment.finalize(context.call((undefined(name='diff') if l_0_diff is missing else l_0_diff), l_1_text))),
                '\n<p class="quiet">To apply it: <code>git apply</code> or <code>patch -p1</code> in the folder where the scan ran, paste, Ctrl-D.</p>\n',
            ))
        return concat(t_12)
    context.exported_vars.add('applied_diff')
    context.vars['applied_diff'] = l_0_applied_diff = Macro(environment, macro, 'applied_diff', ('text',), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_entry):
        t_13 = []
        if l_1_entry is missing:
            l_1_entry = undefined("parameter 'entry' was not provided", name='entry')
        pass
        if environment.getattr(l_1_entry, 'setting'):
            pass
            t_13.append(
                '<p class="setting">',
            )
            if environment.getattr(l_1_entry, 'where'):
                pass
                t_13.extend((
                    escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), environment.getattr(l_1_entry, 'where')))),
                    ' ',
                ))
            t_13.extend((
                '<code>',
                escape(environment.finalize(environment.getattr(l_1_entry, 'setting'))),
                '</code>\n',
            ))
            if (not t_6(environment.getattr(l_1_entry, 'from'))):
                pass
                if (t_6(environment.getattr(l_1_entry, 'to')) or (environment.getattr(l_1_entry, 'to') == environment.getattr(l_1_entry, 'from'))):
                    pass
                    t_13.extend((
                        '<code>',
                        escape(environment.finalize(t_5(environment.getattr(l_1_entry, 'from'), 200))),
                        '</code> ',
                    ))
                else:
                    pass
                    t_13.extend((
                        '<span class="from"><span class="visually-hidden">from </span><code>',
                        escape(environment.finalize(t_5(environment.getattr(l_1_entry, 'from'), 200))),
                        '</code></span> ',
                    ))
            if ((not t_6(environment.getattr(l_1_entry, 'to'))) and (environment.getattr(l_1_entry, 'to') != environment.getattr(l_1_entry, 'from'))):
                pass
                t_13.extend((
                    '<span aria-hidden="true">→</span><span class="visually-hidden"> to </span> <code class="to">',
                    escape(environment.finalize(t_5(environment.getattr(l_1_entry, 'to'), 200))),
                    '</code>',
                ))
                if (environment.getattr(l_1_entry, 'unit') and t_2(environment.getattr(l_1_entry, 'to'))):
                    pass
                    t_13.extend((
                        ' ',
                        escape(environment.finalize(environment.getattr(l_1_entry, 'unit'))),
                    ))
            t_13.append(
                '</p>\n',
            )
        return concat(t_13)
    context.exported_vars.add('change')
    context.vars['change'] = l_0_change = Macro(environment, macro, 'change', ('entry',), False, False, False, context.eval_ctx.autoescape)
    yield '\n'
    def macro(l_1_entry, l_1_rules):
        t_14 = []
        if l_1_entry is missing:
            l_1_entry = undefined("parameter 'entry' was not provided", name='entry')
        if l_1_rules is missing:
            l_1_rules = undefined("parameter 'rules' was not provided", name='rules')
        pass
        t_14.extend((
            '<p class="title">',
            escape(environment.finalize(environment.getattr(l_1_entry, 'title'))),
            '</p>\n',
            escape(environment.finalize(context.call((undefined(name='change') if l_0_change is missing else l_0_change), l_1_entry))),
            '\n',
            escape(environment.finalize(context.call((undefined(name='applied_diff') if l_0_applied_diff is missing else l_0_applied_diff), environment.getattr(l_1_entry, 'diff')))),
            '\n',
            escape(environment.finalize(context.call((undefined(name='command') if l_0_command is missing else l_0_command), environment.getattr(l_1_entry, 'command')))),
            '\n',
        ))
        if ((environment.getattr(l_1_entry, 'why') and (environment.getattr(l_1_entry, 'because') in l_1_rules)) and (environment.getattr(l_1_entry, 'why') != environment.getattr(environment.getitem(l_1_rules, environment.getattr(l_1_entry, 'because')), 'title'))):
            pass
            t_14.extend((
                '<p>',
                escape(environment.finalize(environment.getattr(l_1_entry, 'why'))),
                '</p>',
            ))
        if environment.getattr(l_1_entry, 'risk'):
            pass
            t_14.extend((
                '<p class="risk"><strong>Risk:</strong> ',
                escape(environment.finalize(environment.getattr(l_1_entry, 'risk'))),
                '</p>',
            ))
        t_14.append(
            '<p class="quiet">\n',
        )
        if (not environment.getattr(l_1_entry, 'do_not')):
            pass
            t_14.extend((
                '<span>',
                escape(environment.finalize(context.call(environment.getattr({'inspect': 'Look', 'workaround': 'Workaround', 'fix': 'Fix'}, 'get'), environment.getattr(l_1_entry, 'effect'), environment.getattr(l_1_entry, 'effect')))),
                '</span>',
            ))
        t_14.extend((
            '<span>for the ',
            escape(environment.finalize(context.call(environment.getattr({'cluster-admin': 'cluster’s administrator', 'user': 'job’s owner', 'vendor': 'vendor'}, 'get'), environment.getattr(l_1_entry, 'owner'), environment.getattr(l_1_entry, 'owner')))),
            '</span>\n',
        ))
        if environment.getattr(l_1_entry, 'on'):
            pass
            t_14.extend((
                '<span>on ',
                escape(environment.finalize(environment.getattr(l_1_entry, 'on'))),
                '</span>',
            ))
        if environment.getattr(l_1_entry, 'since'):
            pass
            t_14.extend((
                '<span>since ',
                escape(environment.finalize(environment.getattr(l_1_entry, 'since'))),
                '</span>',
            ))
        if environment.getattr(l_1_entry, 'until'):
            pass
            t_14.extend((
                '<span>until ',
                escape(environment.finalize(environment.getattr(l_1_entry, 'until'))),
                '</span>',
            ))
        if environment.getattr(l_1_entry, 'source'):
            pass
            t_14.extend((
                '<span class="source">',
                escape(environment.finalize(t_4(environment.getattr(l_1_entry, 'source')))),
                '</span>',
            ))
        t_14.append(
            '</p>\n',
        )
        return concat(t_14)
    context.exported_vars.add('step')
    context.vars['step'] = l_0_step = Macro(environment, macro, 'step', ('entry', 'rules'), False, False, False, context.eval_ctx.autoescape)


def _ranks_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_place = missing
    t_1 = environment.filters['default']
    t_2 = environment.filters['length']
    t_3 = environment.filters['number']
    t_4 = environment.filters['short']
    t_5 = environment.tests['none']
    pass
    included_template = environment.get_template('parts.html.j2', 'ranks.html.j2')._get_default_module(context)
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'ranks.html.j2') does not export the requested name 'place'", name='place')
    context.vars['place'] = l_0_place
    context.exported_vars.discard('place')
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'ranks'):
        pass
        yield '<section id="ranks" aria-labelledby="ranks-title">\n<h2 id="ranks-title">Who waited</h2>\n<details'
        if (t_2(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'ranks')) <= 16):
            pass
            yield ' open'
        yield '><summary>'
        yield escape(environment.finalize(t_3(t_2(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'ranks')))))
        yield ' standings of ranks in process groups</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Standings of ranks">\n<table>\n<caption>Numbers of the last collective that each rank issued and completed in each process group, from watchdogs’ lines and flight-recorder dumps.</caption>\n<thead><tr><th scope="col">Rank</th><th scope="col">Host</th><th scope="col">Group</th><th scope="col">Issued</th><th scope="col">Completed</th><th scope="col">Waits in</th><th scope="col">Last words</th></tr></thead>\n<tbody>\n'
        for l_1_standing in environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'ranks')[:256]:
            _loop_vars = {}
            pass
            yield '<tr'
            if (environment.getattr(l_1_standing, 'rank') == environment.getattr(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'culprit'), 'rank')):
                pass
                yield ' class="culprit"'
            yield '><td class="count">'
            yield escape(environment.finalize(environment.getattr(l_1_standing, 'rank')))
            yield '</td><td>'
            yield escape(environment.finalize(t_4(t_1(environment.getattr(l_1_standing, 'host'), '', True), 40)))
            yield '</td><td>'
            yield escape(environment.finalize(t_4(t_1(environment.getattr(l_1_standing, 'process_group'), '', True), 40)))
            yield '</td><td class="count">'
            yield escape(environment.finalize(t_1(environment.getattr(l_1_standing, 'last_enqueued'), '', True)))
            yield '</td><td class="count">'
            yield escape(environment.finalize(t_1(environment.getattr(l_1_standing, 'last_completed'), '', True)))
            yield '</td><td>'
            if environment.getattr(l_1_standing, 'waits_in'):
                pass
                yield escape(environment.finalize(t_4(environment.getattr(l_1_standing, 'waits_in'), 40)))
                if (not t_5(environment.getattr(l_1_standing, 'waits_at'))):
                    pass
                    yield ' number '
                    yield escape(environment.finalize(environment.getattr(l_1_standing, 'waits_at')))
            elif environment.getattr(l_1_standing, 'process_group'):
                pass
                yield 'nothing'
            yield '</td><td class="log">'
            if environment.getattr(l_1_standing, 'last_words'):
                pass
                yield escape(environment.finalize(t_4(environment.getattr(environment.getattr(l_1_standing, 'last_words'), 'text'), 120)))
                yield ' '
                yield escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), environment.getattr(l_1_standing, 'last_words'), _loop_vars=_loop_vars)))
            yield '</td></tr>\n'
        l_1_standing = missing
        yield '</tbody>\n</table>\n</div>\n'
        if ((t_2(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'ranks')) > 256) or environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'ranks')):
            pass
            yield '<p class="quiet">More standings than this page shows; the JSON report has up to 1,000.</p>'
        yield '</details>\n</section>\n'


def _record_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_fact = l_0_place = l_0_findings_table = l_0_benign = l_0_grave = l_0_coverage = missing
    t_1 = environment.filters['default']
    t_2 = environment.filters['dictsort']
    t_3 = environment.filters['int']
    t_4 = environment.filters['join']
    t_5 = environment.filters['length']
    t_6 = environment.filters['list']
    t_7 = environment.filters['moment']
    t_8 = environment.filters['number']
    t_9 = environment.filters['ranks']
    t_10 = environment.filters['rejectattr']
    t_11 = environment.filters['round']
    t_12 = environment.filters['selectattr']
    t_13 = environment.filters['short']
    t_14 = environment.filters['short_path']
    pass
    included_template = environment.get_template('parts.html.j2', 'record.html.j2')._get_default_module(context)
    l_0_fact = getattr(included_template, 'fact', missing)
    if l_0_fact is missing:
        l_0_fact = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'record.html.j2') does not export the requested name 'fact'", name='fact')
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'record.html.j2') does not export the requested name 'place'", name='place')
    context.vars.update({'fact': l_0_fact, 'place': l_0_place})
    context.exported_vars.difference_update(('fact', 'place'))
    def macro(l_1_findings, l_1_caption):
        t_15 = []
        if l_1_findings is missing:
            l_1_findings = undefined("parameter 'findings' was not provided", name='findings')
        if l_1_caption is missing:
            l_1_caption = undefined("parameter 'caption' was not provided", name='caption')
        pass
        t_15.extend((
            '<div class="scroll" tabindex="0" role="region" aria-label="',
            escape(environment.finalize(l_1_caption)),
            '">\n<table>\n<caption>',
            escape(environment.finalize(l_1_caption)),
            '</caption>\n<thead><tr><th scope="col">What</th><th scope="col">Role</th><th scope="col">Count</th><th scope="col">Ranks</th><th scope="col">First seen</th></tr></thead>\n<tbody>\n',
        ))
        for l_2_finding in l_1_findings:
            _loop_vars = {}
            pass
            t_15.extend((
                '<tr><td><p>',
                escape(environment.finalize(environment.getattr(l_2_finding, 'title'))),
                '</p><p class="quiet"><code>',
                escape(environment.finalize(environment.getattr(l_2_finding, 'rule'))),
                '</code></p><p class="log">',
                escape(environment.finalize(t_13(environment.getattr(environment.getitem(environment.getattr(l_2_finding, 'samples'), 0), 'text'), 240))),
                '</p></td><td class="role">',
                escape(environment.finalize(environment.getattr(l_2_finding, 'role'))),
                '</td><td class="count">',
                escape(environment.finalize(t_8(environment.getattr(l_2_finding, 'count')))),
                '</td><td class="ranks">',
                escape(environment.finalize(t_9(environment.getattr(l_2_finding, 'ranks'), environment.getattr(l_2_finding, 'rank_count')))),
                '</td><td>',
                escape(environment.finalize(t_7(environment.getattr(environment.getattr(l_2_finding, 'first'), 'time')))),
                ' ',
                escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), environment.getattr(l_2_finding, 'first'), _loop_vars=_loop_vars))),
                '</td></tr>\n',
            ))
        l_2_finding = missing
        t_15.append(
            '</tbody>\n</table>\n</div>\n',
        )
        return concat(t_15)
    context.exported_vars.add('findings_table')
    context.vars['findings_table'] = l_0_findings_table = Macro(environment, macro, 'findings_table', ('findings', 'caption'), False, False, False, context.eval_ctx.autoescape)
    l_0_benign = t_6(context.eval_ctx, t_12(context, environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'findings'), 'role', 'in', ['benign', 'context']))
    context.vars['benign'] = l_0_benign
    context.exported_vars.add('benign')
    l_0_grave = t_6(context.eval_ctx, t_10(context, environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'findings'), 'role', 'in', ['benign', 'context']))
    context.vars['grave'] = l_0_grave
    context.exported_vars.add('grave')
    l_0_coverage = environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'coverage')
    context.vars['coverage'] = l_0_coverage
    context.exported_vars.add('coverage')
    yield '<section id="findings" aria-labelledby="findings-title">\n<h2 id="findings-title">All findings</h2>\n'
    if (undefined(name='grave') if l_0_grave is missing else l_0_grave):
        pass
        yield escape(environment.finalize(context.call((undefined(name='findings_table') if l_0_findings_table is missing else l_0_findings_table), (undefined(name='grave') if l_0_grave is missing else l_0_grave), 'In the order of the log.')))
        yield '\n'
    else:
        pass
        yield '<p>No line of a known failure.</p>\n'
    if (undefined(name='benign') if l_0_benign is missing else l_0_benign):
        pass
        yield '<details><summary>'
        yield escape(environment.finalize(t_8(t_5((undefined(name='benign') if l_0_benign is missing else l_0_benign)))))
        yield ' harmless or informative '
        yield escape(environment.finalize(('finding' if (t_5((undefined(name='benign') if l_0_benign is missing else l_0_benign)) == 1) else 'findings')))
        yield '</summary>\n'
        yield escape(environment.finalize(context.call((undefined(name='findings_table') if l_0_findings_table is missing else l_0_findings_table), (undefined(name='benign') if l_0_benign is missing else l_0_benign), 'Lines that may frighten and mean no failure.')))
        yield '\n</details>\n'
    if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'findings'):
        pass
        yield '<p class="quiet">'
        yield escape(environment.finalize(t_8(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'findings'))))
        yield ' more findings are left out.</p>'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'unclaimed'):
        pass
        yield '<details><summary>'
        yield escape(environment.finalize(t_8(t_5(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'unclaimed')))))
        yield ' '
        yield escape(environment.finalize(('kind' if (t_5(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'unclaimed')) == 1) else 'kinds')))
        yield ' of warnings that no rule knows</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Unknown warnings">\n<table>\n<caption>Warnings and errors without a rule, by template.</caption>\n<thead><tr><th scope="col">Template</th><th scope="col">Count</th><th scope="col">First seen</th><th scope="col">May be</th></tr></thead>\n<tbody>\n'
        for l_1_group in environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'unclaimed'):
            _loop_vars = {}
            pass
            yield '<tr><td class="log">'
            yield escape(environment.finalize(t_13(environment.getattr(l_1_group, 'template'), 300)))
            yield '</td><td class="count">'
            yield escape(environment.finalize(t_8(environment.getattr(l_1_group, 'count'))))
            yield '</td><td>'
            yield escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), environment.getattr(l_1_group, 'first'), _loop_vars=_loop_vars)))
            yield '</td><td>'
            if environment.getattr(l_1_group, 'suggestion'):
                pass
                yield escape(environment.finalize(environment.getattr(environment.getattr(l_1_group, 'suggestion'), 'category')))
                yield ' ('
                yield escape(environment.finalize(t_3(t_11((100 * environment.getattr(environment.getattr(l_1_group, 'suggestion'), 'probability'))))))
                yield ' %), a suggestion by the words '
                yield escape(environment.finalize(t_4(context.eval_ctx, environment.getattr(environment.getattr(l_1_group, 'suggestion'), 'words'), ', ')))
            yield '</td></tr>\n'
        l_1_group = missing
        yield '</tbody>\n</table>\n</div>\n</details>\n'
    yield '</section>\n<section id="coverage" aria-labelledby="coverage-title">\n<h2 id="coverage-title">What was read</h2>\n<dl class="facts">\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Inputs', t_8((t_5(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs')) + environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'inputs'))))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Lines', t_8(environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'lines')))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Bytes', t_8(environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'bytes')))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'NCCL warnings no rule knows', t_8(environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'unrecognised_nccl_lines')))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Bytes that were not text', t_8(environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'replaced_bytes')))))
    yield '\n'
    yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Lines cut for length', t_8(environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'truncated_lines')))))
    yield '\n</dl>\n'
    if environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'notes'):
        pass
        yield '<ul>\n'
        for l_1_note in environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'notes'):
            _loop_vars = {}
            pass
            yield '<li>'
            yield escape(environment.finalize(l_1_note))
            yield '</li>\n'
        l_1_note = missing
        yield '</ul>\n'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs'):
        pass
        yield '<details><summary>'
        yield escape(environment.finalize(t_8(t_5(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs')))))
        yield ' '
        yield escape(environment.finalize(('input' if (t_5(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs')) == 1) else 'inputs')))
        yield ' and what their lines were</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Inputs">\n<table>\n<caption>Inputs, in the order read.</caption>\n<thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Lines</th><th scope="col">Bytes</th><th scope="col">Note</th></tr></thead>\n<tbody>\n'
        for l_1_input in environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs')[:200]:
            _loop_vars = {}
            pass
            yield '<tr><td><code>'
            yield escape(environment.finalize(t_14(environment.getattr(l_1_input, 'name'), 200)))
            yield '</code></td><td>'
            yield escape(environment.finalize(environment.getattr(l_1_input, 'kind')))
            yield '</td><td class="count">'
            yield escape(environment.finalize(t_8(environment.getattr(l_1_input, 'lines'))))
            yield '</td><td class="count">'
            yield escape(environment.finalize(t_8(environment.getattr(l_1_input, 'bytes'))))
            yield '</td><td>'
            yield escape(environment.finalize(t_13(t_1(environment.getattr(l_1_input, 'note'), '', True), 200)))
            yield '</td></tr>\n'
        l_1_input = missing
        yield '</tbody>\n</table>\n</div>\n<dl class="facts">\n'
        for (l_1_kind, l_1_count) in t_2(environment.getattr((undefined(name='coverage') if l_0_coverage is missing else l_0_coverage), 'by_kind')):
            _loop_vars = {}
            pass
            yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), l_1_kind, t_8(l_1_count), _loop_vars=_loop_vars)))
            yield '\n'
        l_1_kind = l_1_count = missing
        yield '</dl>\n</details>\n'
    yield '</section>'


def _remedy_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_has_remedy = resolve('has_remedy')
    l_0_advice = resolve('advice')
    l_0_step = l_0_rule = missing
    t_1 = environment.filters['int']
    t_2 = environment.filters['link']
    t_3 = environment.filters['round']
    t_4 = environment.filters['short']
    t_5 = environment.filters['whole']
    pass
    included_template = environment.get_template('parts.html.j2', 'remedy.html.j2')._get_default_module(context)
    l_0_step = getattr(included_template, 'step', missing)
    if l_0_step is missing:
        l_0_step = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'remedy.html.j2') does not export the requested name 'step'", name='step')
    context.vars['step'] = l_0_step
    context.exported_vars.discard('step')
    l_0_rule = context.call(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'rules'), 'get'), environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'rule'))
    context.vars['rule'] = l_0_rule
    context.exported_vars.add('rule')
    if (undefined(name='has_remedy') if l_0_has_remedy is missing else l_0_has_remedy):
        pass
        yield '<section id="remedy" aria-labelledby="remedy-title">\n<h2 id="remedy-title">What to do</h2>\n'
        if (undefined(name='rule') if l_0_rule is missing else l_0_rule):
            pass
            yield '<div class="prose"><p>'
            yield escape(environment.finalize(environment.getattr((undefined(name='rule') if l_0_rule is missing else l_0_rule), 'what')))
            yield '</p><p>'
            yield escape(environment.finalize(environment.getattr((undefined(name='rule') if l_0_rule is missing else l_0_rule), 'why')))
            yield '</p></div>\n'
        if environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'changes'):
            pass
            yield '<ol class="steps">\n'
            for l_1_entry in environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'changes'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(context.call((undefined(name='step') if l_0_step is missing else l_0_step), l_1_entry, environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'rules'), _loop_vars=_loop_vars)))
                yield '</li>\n'
            l_1_entry = missing
            yield '</ol>\n'
        if environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'avoided'):
            pass
            yield '<div class="notice">\n<h3>What not to do</h3>\n<ul class="steps warnings">\n'
            for l_1_entry in environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'avoided'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(context.call((undefined(name='step') if l_0_step is missing else l_0_step), l_1_entry, environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'rules'), _loop_vars=_loop_vars)))
                yield '</li>\n'
            l_1_entry = missing
            yield '</ul>\n</div>\n'
        if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'alternatives'):
            pass
            yield '<h3>What else it could be</h3>\n<ul>\n'
            for l_1_other in environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'alternatives'):
                _loop_vars = {}
                pass
                yield '<li><code>'
                yield escape(environment.finalize(environment.getattr(l_1_other, 'category')))
                yield '</code> <span class="quiet">'
                yield escape(environment.finalize(t_1(t_3((100 * environment.getattr(l_1_other, 'confidence'))))))
                yield ' %</span> '
                yield escape(environment.finalize(environment.getattr(l_1_other, 'why')))
                yield '</li>\n'
            l_1_other = missing
            yield '</ul>\n'
        if ((undefined(name='rule') if l_0_rule is missing else l_0_rule) and environment.getattr((undefined(name='rule') if l_0_rule is missing else l_0_rule), 'references')):
            pass
            yield '<h3>Where these facts are from</h3>\n<ul class="references">\n'
            for l_1_reference in environment.getattr((undefined(name='rule') if l_0_rule is missing else l_0_rule), 'references'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(t_2(environment.getattr(l_1_reference, 'url'), environment.getattr(l_1_reference, 'title'))))
                yield '</li>\n'
            l_1_reference = missing
            yield '</ul>\n'
        yield '</section>\n'
    if (environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'unknowns') or environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'looks')):
        pass
        yield '<section id="unknown" aria-labelledby="unknown-title">\n<h2 id="unknown-title">What is not known, and what would tell</h2>\n<div class="notice">\n'
        if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'unknowns'):
            pass
            yield '<ul>\n'
            for l_1_unknown in environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'unknowns'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(t_5(t_4(l_1_unknown, 600))))
                yield '</li>\n'
            l_1_unknown = missing
            yield '</ul>\n'
        if environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'looks'):
            pass
            yield '<h3>Where to look</h3>\n<ol class="steps">\n'
            for l_1_entry in environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'looks'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(context.call((undefined(name='step') if l_0_step is missing else l_0_step), l_1_entry, environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'rules'), _loop_vars=_loop_vars)))
                yield '</li>\n'
            l_1_entry = missing
            yield '</ol>\n'
        yield '</div>\n</section>\n'


def _report_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_style_digest = resolve('style_digest')
    l_0_script_digest = resolve('script_digest')
    l_0_view = resolve('view')
    l_0_style = resolve('style')
    l_0_heat_map = resolve('heat_map')
    l_0_curves = resolve('curves')
    l_0_has_remedy = resolve('has_remedy')
    l_0_advice = resolve('advice')
    l_0_script = resolve('script')
    l_0_place = l_0_logs = missing
    t_1 = environment.filters['length']
    t_2 = environment.filters['list']
    t_3 = environment.filters['number']
    t_4 = environment.filters['rejectattr']
    t_5 = environment.filters['short']
    t_6 = environment.filters['short_path']
    pass
    included_template = environment.get_template('parts.html.j2', 'report.html.j2')._get_default_module(context)
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'report.html.j2') does not export the requested name 'place'", name='place')
    context.vars['place'] = l_0_place
    context.exported_vars.discard('place')
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="nccl-logscan">\n<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \''
    yield escape(environment.finalize((undefined(name='style_digest') if l_0_style_digest is missing else l_0_style_digest)))
    yield "'; script-src '"
    yield escape(environment.finalize((undefined(name='script_digest') if l_0_script_digest is missing else l_0_script_digest)))
    yield '\'; base-uri \'none\'; form-action \'none\'">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n<title>'
    yield escape(environment.finalize(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'category')))
    yield ': '
    yield escape(environment.finalize(t_5(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'headline'), 120)))
    yield '</title>\n<style>'
    yield escape(environment.finalize((undefined(name='style') if l_0_style is missing else l_0_style)))
    yield '</style>\n</head>\n<body class="family-'
    yield escape(environment.finalize(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'family')))
    yield '">\n<a class="skip" href="#verdict">Skip to the verdict</a>\n<header class="masthead">\n<p class="name">nccl-logscan</p>\n<p class="inputs">\n'
    l_0_logs = (t_2(context.eval_ctx, t_4(context, environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs'), 'kind', 'equalto', 'config')) or environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'inputs'))
    context.vars['logs'] = l_0_logs
    context.exported_vars.add('logs')
    for l_1_input in (undefined(name='logs') if l_0_logs is missing else l_0_logs)[:3]:
        _loop_vars = {}
        pass
        yield '<span>'
        yield escape(environment.finalize(t_6(environment.getattr(l_1_input, 'name'), 90)))
        yield '</span>'
    l_1_input = missing
    if (t_1((undefined(name='logs') if l_0_logs is missing else l_0_logs)) > 3):
        pass
        yield '<span>and '
        yield escape(environment.finalize(t_3(((t_1((undefined(name='logs') if l_0_logs is missing else l_0_logs)) - 3) + environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'inputs')))))
        yield ' more</span>'
    yield '</p>\n</header>\n<main>\n'
    template = environment.get_template('verdict.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    yield '<nav aria-label="Sections">\n<ul>\n'
    if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'evidence'):
        pass
        yield '<li><a href="#evidence">Evidence</a></li>'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'cascade'):
        pass
        yield '<li><a href="#cascade">What followed</a></li>'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'ranks'):
        pass
        yield '<li><a href="#ranks">Who waited</a></li>'
    if (undefined(name='heat_map') if l_0_heat_map is missing else l_0_heat_map):
        pass
        yield '<li><a href="#activity">Who spoke when</a></li>'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'timeline'):
        pass
        yield '<li><a href="#timeline">Timeline</a></li>'
    if (undefined(name='curves') if l_0_curves is missing else l_0_curves):
        pass
        yield '<li><a href="#training">Loss</a></li>'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'figures'):
        pass
        yield '<li><a href="#figures">Measured</a></li>'
    if environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'machines'):
        pass
        yield '<li><a href="#machines">Machines</a></li>'
    if (undefined(name='has_remedy') if l_0_has_remedy is missing else l_0_has_remedy):
        pass
        yield '<li><a href="#remedy">What to do</a></li>'
    if (environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict'), 'unknowns') or environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'looks')):
        pass
        yield '<li><a href="#unknown">What is not known</a></li>'
    if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'lint'):
        pass
        yield '<li><a href="#settings">Settings</a></li>'
    yield '<li><a href="#job">The job</a></li>\n<li><a href="#findings">All findings</a></li>\n<li><a href="#coverage">What was read</a></li>\n</ul>\n</nav>\n'
    template = environment.get_template('evidence.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('ranks.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('activity.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('course.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('training.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('figures.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('machines.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('remedy.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('settings.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('job.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('record.html.j2', 'report.html.j2')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'logs': l_0_logs, 'place': l_0_place}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    yield '</main>\n<footer>\n<p>'
    yield escape(environment.finalize(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'tool'), 'name')))
    yield ' '
    yield escape(environment.finalize(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'tool'), 'version')))
    yield ' · report '
    yield escape(environment.finalize(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'schema_version')))
    yield ' · rules <code>'
    yield escape(environment.finalize(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'tool'), 'rules_digest')[:12]))
    yield '</code>'
    if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'tool'), 'model_digest'):
        pass
        yield ' · model <code>'
        yield escape(environment.finalize(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'tool'), 'model_digest')[:12]))
        yield '</code>'
    yield '</p>\n<p>Made offline from the log alone. Well-known forms of secrets were replaced by <code>[redacted]</code>; read it through before you forward it.</p>\n</footer>\n<p class="visually-hidden" id="told" role="status"></p>\n<script>'
    yield escape(environment.finalize((undefined(name='script') if l_0_script is missing else l_0_script)))
    yield '</script>\n</body>\n</html>'


def _settings_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_applied_diff = l_0_command = l_0_place = missing
    t_1 = environment.filters['link']
    t_2 = environment.filters['number']
    t_3 = environment.filters['sentence']
    t_4 = environment.filters['short']
    pass
    included_template = environment.get_template('parts.html.j2', 'settings.html.j2')._get_default_module(context)
    l_0_applied_diff = getattr(included_template, 'applied_diff', missing)
    if l_0_applied_diff is missing:
        l_0_applied_diff = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'settings.html.j2') does not export the requested name 'applied_diff'", name='applied_diff')
    l_0_command = getattr(included_template, 'command', missing)
    if l_0_command is missing:
        l_0_command = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'settings.html.j2') does not export the requested name 'command'", name='command')
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'settings.html.j2') does not export the requested name 'place'", name='place')
    context.vars.update({'applied_diff': l_0_applied_diff, 'command': l_0_command, 'place': l_0_place})
    context.exported_vars.difference_update(('applied_diff', 'command', 'place'))
    if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'lint'):
        pass
        yield '<section id="settings" aria-labelledby="settings-title">\n<h2 id="settings-title">Settings</h2>\n<p class="prose">What is wrong, or does nothing, in the configuration files and among the variables that the log shows.</p>\n<ul class="steps settings">\n'
        for l_1_entry in environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'config'), 'lint'):
            _loop_vars = {}
            pass
            yield '<li>\n<p class="title"><code>'
            yield escape(environment.finalize(environment.getattr(l_1_entry, 'name')))
            if environment.getattr(l_1_entry, 'value'):
                pass
                yield '='
                yield escape(environment.finalize(t_4(environment.getattr(l_1_entry, 'value'), 200)))
            yield '</code> '
            yield escape(environment.finalize(t_3(environment.getattr(l_1_entry, 'problem'))))
            yield '</p>\n<p>'
            yield escape(environment.finalize(t_3(environment.getattr(l_1_entry, 'advice'))))
            yield '</p>\n'
            yield escape(environment.finalize(context.call((undefined(name='command') if l_0_command is missing else l_0_command), environment.getattr(l_1_entry, 'command'), _loop_vars=_loop_vars)))
            yield '\n'
            yield escape(environment.finalize(context.call((undefined(name='applied_diff') if l_0_applied_diff is missing else l_0_applied_diff), environment.getattr(l_1_entry, 'diff'), _loop_vars=_loop_vars)))
            yield '\n<p class="quiet"><span>'
            yield escape(environment.finalize(environment.getitem({'error': 'Error', 'warning': 'Warning', 'note': 'Note'}, environment.getattr(l_1_entry, 'severity'))))
            yield '</span> <span>'
            yield escape(environment.finalize(context.call((undefined(name='place') if l_0_place is missing else l_0_place), l_1_entry, _loop_vars=_loop_vars)))
            yield '</span>\n'
            if environment.getattr(l_1_entry, 'source'):
                pass
                yield '<span class="source">'
                yield escape(environment.finalize(t_1(environment.getattr(l_1_entry, 'source'))))
                yield '</span>'
            yield '</p>\n</li>\n'
        l_1_entry = missing
        yield '</ul>\n'
        if environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'lint'):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_2(environment.getattr(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'omitted'), 'lint'))))
            yield ' more are left out.</p>'
        yield '</section>\n'


def _training_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_curves = resolve('curves')
    t_1 = environment.filters['length']
    t_2 = environment.filters['number']
    t_3 = environment.filters['short_path']
    pass
    if (undefined(name='curves') if l_0_curves is missing else l_0_curves):
        pass
        yield '<section id="training" aria-labelledby="training-title">\n<h2 id="training-title">'
        yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'title')))
        yield '</h2>\n<p class="prose course">'
        for l_1_sentence in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'said'):
            _loop_vars = {}
            pass
            yield escape(environment.finalize(l_1_sentence))
            yield ' '
        l_1_sentence = missing
        yield '</p>\n<div class="scroll" tabindex="0" role="region" aria-label="Picture of the training’s course">\n<svg class="training'
        yield escape(environment.finalize((' choice' if environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'is_choice') else nothing("the inline if-expression on line 6 in 'training.html.j2' evaluated to false and no else section was defined."))))
        yield '" viewBox="0 0 '
        yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'width')))
        yield ' '
        yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'height')))
        yield '" role="img" aria-labelledby="curves-title curves-text">\n<title id="curves-title">'
        yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'title')))
        yield '</title>\n<desc id="curves-text">The sentences above and the table below say the same.</desc>\n'
        for l_1_lane in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'lanes'):
            _loop_vars = {}
            pass
            yield '<g class="lane"><line x1="'
            yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left')))
            yield '" x2="'
            yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'right')))
            yield '" y1="'
            yield escape(environment.finalize(environment.getattr(l_1_lane, 'y')))
            yield '" y2="'
            yield escape(environment.finalize(environment.getattr(l_1_lane, 'y')))
            yield '"/><text x="'
            yield escape(environment.finalize((environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left') - 12)))
            yield '" y="'
            yield escape(environment.finalize((environment.getattr(l_1_lane, 'y') + 4)))
            yield '" text-anchor="end">'
            yield escape(environment.finalize(environment.getattr(l_1_lane, 'label')))
            yield '</text></g>\n'
            for l_2_sign in environment.getattr(l_1_lane, 'signs'):
                _loop_vars = {}
                pass
                if (environment.getattr(l_1_lane, 'shape') == 'skip'):
                    pass
                    yield '<path class="skip" d="M'
                    yield escape(environment.finalize((environment.getattr(l_2_sign, 'x') - 5)))
                    yield ' '
                    yield escape(environment.finalize((environment.getattr(l_1_lane, 'y') - 4)))
                    yield 'h10l-5 9z"><title>'
                    yield escape(environment.finalize(environment.getattr(l_2_sign, 'title')))
                    yield '</title></path>'
                else:
                    pass
                    yield '<path class="not-finite" d="M'
                    yield escape(environment.finalize((environment.getattr(l_2_sign, 'x') - 4)))
                    yield ' '
                    yield escape(environment.finalize((environment.getattr(l_1_lane, 'y') - 4)))
                    yield 'l8 8m0 -8l-8 8"><title>'
                    yield escape(environment.finalize(environment.getattr(l_2_sign, 'title')))
                    yield '</title></path>'
            l_2_sign = missing
            yield '\n'
        l_1_lane = missing
        for l_1_panel in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'panels'):
            _loop_vars = {}
            pass
            yield '<g class="panel"><text class="name" x="'
            yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left')))
            yield '" y="'
            yield escape(environment.finalize((environment.getattr(l_1_panel, 'top') - 9)))
            yield '">'
            yield escape(environment.finalize(environment.getattr(l_1_panel, 'label')))
            if environment.getattr(l_1_panel, 'scale'):
                pass
                yield ' ('
                yield escape(environment.finalize(environment.getattr(l_1_panel, 'scale')))
                yield ' axis)'
            yield '</text>\n'
            for l_2_mark in environment.getattr(l_1_panel, 'marks'):
                _loop_vars = {}
                pass
                yield '<line x1="'
                yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left')))
                yield '" x2="'
                yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'right')))
                yield '" y1="'
                yield escape(environment.finalize(environment.getattr(l_2_mark, 'y')))
                yield '" y2="'
                yield escape(environment.finalize(environment.getattr(l_2_mark, 'y')))
                yield '"/><text x="'
                yield escape(environment.finalize((environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left') - 12)))
                yield '" y="'
                yield escape(environment.finalize((environment.getattr(l_2_mark, 'y') + 4)))
                yield '" text-anchor="end">'
                yield escape(environment.finalize(environment.getattr(l_2_mark, 'label')))
                yield '</text>'
            l_2_mark = missing
            yield '\n'
            if environment.getattr(l_1_panel, 'earlier'):
                pass
                yield '<path class="curve earlier" d="'
                yield escape(environment.finalize(environment.getattr(l_1_panel, 'earlier')))
                yield '"/>'
            if environment.getattr(l_1_panel, 'line'):
                pass
                yield '<path class="curve" d="'
                yield escape(environment.finalize(environment.getattr(l_1_panel, 'line')))
                yield '"/>'
            for l_2_dot in environment.getattr(l_1_panel, 'dots'):
                _loop_vars = {}
                pass
                yield '<circle cx="'
                yield escape(environment.finalize(environment.getattr(l_2_dot, 'x')))
                yield '" cy="'
                yield escape(environment.finalize(environment.getattr(l_2_dot, 'y')))
                yield '" r="3"><title>'
                yield escape(environment.finalize(environment.getattr(l_2_dot, 'title')))
                yield '</title></circle>'
            l_2_dot = missing
            yield '\n</g>\n'
        l_1_panel = missing
        for l_1_tick in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'ticks'):
            _loop_vars = {}
            pass
            yield '<g class="tick"><line x1="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
            yield '" x2="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
            yield '" y1="'
            yield escape(environment.finalize(environment.getattr(environment.getitem(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'panels'), -1), 'bottom')))
            yield '" y2="'
            yield escape(environment.finalize((environment.getattr(environment.getitem(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'panels'), -1), 'bottom') + 6)))
            yield '"/><text x="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'x')))
            yield '" y="'
            yield escape(environment.finalize((environment.getattr(environment.getitem(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'panels'), -1), 'bottom') + 20)))
            yield '" text-anchor="'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'anchor')))
            yield '">'
            yield escape(environment.finalize(environment.getattr(l_1_tick, 'label')))
            yield '</text></g>\n'
        l_1_tick = missing
        yield '<text x="'
        yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'right')))
        yield '" y="'
        yield escape(environment.finalize((environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'height') - 8)))
        yield '" text-anchor="end">'
        yield escape(environment.finalize(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'axis')))
        yield '</text>\n</svg>\n</div>\n'
        if (environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'lanes') or environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'has_earlier')):
            pass
            yield '<p class="legend">'
            for l_1_lane in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'lanes'):
                _loop_vars = {}
                pass
                if (environment.getattr(l_1_lane, 'shape') == 'skip'):
                    pass
                    yield '<span class="key" aria-hidden="true">▼</span> steps skipped, or an overflow; one that no step follows stands behind the last '
                else:
                    pass
                    yield '<span class="key" aria-hidden="true">✕</span> a number that is NaN or infinite: the curve is parted there '
            l_1_lane = missing
            if environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'has_earlier'):
                pass
                yield '<span class="key" aria-hidden="true">─</span> thin and grey: earlier attempts'
            yield '</p>'
        yield '\n'
        if environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'is_choice'):
            pass
            yield '<p class="legend">The log is large, and not each of its steps was read. Shown are the first and last few, those at which the loss scale or a count of skipped steps changed, and those with a number that is NaN or infinite. What lies between them, on the dotted lines, is not known.</p>'
        yield '\n<details><summary>'
        yield escape(environment.finalize(t_2(t_1(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'rows')))))
        yield ' points as a table</summary>\n<div class="scroll" tabindex="0" role="region" aria-label="Table of the training’s course">\n<table>\n<caption>Points in the order of the log. An overflow commonly names no step.</caption>\n<thead><tr><th scope="col">Step</th>'
        for l_1_column in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'columns'):
            _loop_vars = {}
            pass
            yield '<th scope="col">'
            yield escape(environment.finalize(l_1_column))
            yield '</th>'
        l_1_column = missing
        yield '<th scope="col">What happened</th><th scope="col">Line</th></tr></thead>\n<tbody>\n'
        for l_1_row in environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'rows'):
            _loop_vars = {}
            pass
            yield '<tr><td class="count">'
            yield escape(environment.finalize(environment.getattr(l_1_row, 'step')))
            yield '</td>'
            for l_2_number in environment.getattr(l_1_row, 'numbers'):
                _loop_vars = {}
                pass
                yield '<td class="count">'
                yield escape(environment.finalize(l_2_number))
                yield '</td>'
            l_2_number = missing
            yield '<td>'
            yield escape(environment.finalize(environment.getattr(l_1_row, 'what')))
            yield '</td><td><code class="place">'
            yield escape(environment.finalize(t_3(environment.getattr(l_1_row, 'place'), 80)))
            yield '</code></td></tr>\n'
        l_1_row = missing
        yield '</tbody>\n</table>\n</div>\n'
        if environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left_out'):
            pass
            yield '<p class="quiet">'
            yield escape(environment.finalize(t_2(environment.getattr((undefined(name='curves') if l_0_curves is missing else l_0_curves), 'left_out'))))
            yield ' points between them are left out; the JSON report has them.</p>'
        yield '</details>\n</section>\n'


def _verdict_html(context, missing=missing, environment=environment):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    
    if 0: yield None
    l_0_view = resolve('view')
    l_0_state = resolve('state')
    l_0_sureness = resolve('sureness')
    l_0_action = resolve('action')
    l_0_advice = resolve('advice')
    l_0_change = l_0_command = l_0_fact = l_0_place = l_0_verdict = l_0_culprit = missing
    t_1 = environment.filters['default']
    t_2 = environment.filters['int']
    t_3 = environment.filters['length']
    t_4 = environment.filters['list']
    t_5 = environment.filters['reject']
    t_6 = environment.filters['round']
    t_7 = environment.filters['selectattr']
    t_8 = environment.filters['short']
    t_9 = environment.filters['whole']
    pass
    included_template = environment.get_template('parts.html.j2', 'verdict.html.j2')._get_default_module(context)
    l_0_change = getattr(included_template, 'change', missing)
    if l_0_change is missing:
        l_0_change = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'verdict.html.j2') does not export the requested name 'change'", name='change')
    l_0_command = getattr(included_template, 'command', missing)
    if l_0_command is missing:
        l_0_command = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'verdict.html.j2') does not export the requested name 'command'", name='command')
    l_0_fact = getattr(included_template, 'fact', missing)
    if l_0_fact is missing:
        l_0_fact = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'verdict.html.j2') does not export the requested name 'fact'", name='fact')
    l_0_place = getattr(included_template, 'place', missing)
    if l_0_place is missing:
        l_0_place = undefined(f"the template {included_template.__name__!r} (imported on line 1 in 'verdict.html.j2') does not export the requested name 'place'", name='place')
    context.vars.update({'change': l_0_change, 'command': l_0_command, 'fact': l_0_fact, 'place': l_0_place})
    context.exported_vars.difference_update(('change', 'command', 'fact', 'place'))
    l_0_verdict = environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'verdict')
    context.vars['verdict'] = l_0_verdict
    context.exported_vars.add('verdict')
    l_0_culprit = environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'culprit')
    context.vars['culprit'] = l_0_culprit
    context.exported_vars.add('culprit')
    yield '<section id="verdict" aria-labelledby="headline">\n<div class="what">\n<p class="eyebrow"><strong>'
    yield escape(environment.finalize((undefined(name='state') if l_0_state is missing else l_0_state)))
    yield '</strong>'
    if (environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'category') not in ('none', 'unknown')):
        pass
        yield ' <span>'
        yield escape(environment.finalize(environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'family')))
        yield '</span> <code>'
        yield escape(environment.finalize(environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'category')))
        yield '</code>'
    yield '</p>\n<h1 id="headline">'
    yield escape(environment.finalize(t_9(t_8(environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'headline'), 300))))
    yield '</h1>\n'
    if t_4(context.eval_ctx, t_5(context, context.call(environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'values')), 'none')):
        pass
        yield '<dl class="where" aria-label="Where it began">\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Rank', environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'rank'))))
        yield '\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Host', t_8(t_1(environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'host'), '', True), 80))))
        yield '\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'GPU', environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'device'))))
        yield '\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Adapter', t_8(t_1(environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'adapter'), '', True), 80))))
        yield '\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Peer', t_8(t_1(environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'peer'), '', True), 80))))
        yield '\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Process', environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'pid'))))
        yield '\n'
        yield escape(environment.finalize(context.call((undefined(name='fact') if l_0_fact is missing else l_0_fact), 'Process group', t_8(t_1(environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'process_group'), '', True), 80))))
        yield '\n</dl>\n'
    if (environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'category') != 'unknown'):
        pass
        yield '<div class="sure">\n<p><strong>'
        yield escape(environment.finalize(t_2(t_6((100 * environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'confidence'))))))
        yield ' %</strong> '
        yield escape(environment.finalize((undefined(name='sureness') if l_0_sureness is missing else l_0_sureness)))
        yield '</p>\n<div class="meter" aria-hidden="true"><svg viewBox="0 0 100 1" preserveAspectRatio="none"><rect width="'
        yield escape(environment.finalize(t_2(t_6((100 * environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'confidence'))))))
        yield '" height="1"/></svg></div>\n</div>\n'
    yield '</div>\n<div class="next">\n<h2>'
    yield escape(environment.finalize(('What to do' if (environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'category') != 'none') else 'What this means')))
    yield '</h2>\n<p class="action">'
    yield escape(environment.finalize((t_9(markup_join(('Restart without ', environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'host'), '.', ))) if ((environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'action') == 'restart_without_node') and environment.getattr((undefined(name='culprit') if l_0_culprit is missing else l_0_culprit), 'host')) else (undefined(name='action') if l_0_action is missing else l_0_action))))
    yield '</p>\n'
    if environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'steps'):
        pass
        yield '<ol>\n'
        for l_1_step in environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'steps')[:3]:
            _loop_vars = {}
            pass
            yield '<li>'
            yield escape(environment.finalize(t_9(t_8(environment.getattr(l_1_step, 'title'), 300))))
            yield '\n'
            yield escape(environment.finalize(context.call((undefined(name='change') if l_0_change is missing else l_0_change), l_1_step, _loop_vars=_loop_vars)))
            yield '\n'
            yield escape(environment.finalize(context.call((undefined(name='command') if l_0_command is missing else l_0_command), environment.getattr(l_1_step, 'command'), _loop_vars=_loop_vars)))
            yield '\n</li>\n'
        l_1_step = missing
        yield '</ol>\n'
        if ((t_3(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'remediation')) > 3) or t_4(context.eval_ctx, t_7(context, environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'steps'), 'diff'))):
            pass
            yield '<p><a href="#'
            yield escape(environment.finalize(('remedy' if (environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'changes') or environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'avoided')) else 'unknown')))
            yield '">'
            if (t_3(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'remediation')) > 3):
                pass
                yield 'All '
                yield escape(environment.finalize(t_3(environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'remediation'))))
                yield ' pieces of advice, with'
            else:
                pass
                yield 'The advice with its'
            yield ' reasons, risks and changes</a></p>'
    elif ((environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'category') == 'none') and environment.getattr((undefined(name='view') if l_0_view is missing else l_0_view), 'findings')):
        pass
        yield '<p>Lines that look like errors and are harmless stand under <a href="#findings">all findings</a>.</p>\n'
    if environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'avoided'):
        pass
        yield '<h3>What not to do</h3>\n<ul class="warnings">\n'
        for l_1_step in environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'avoided')[:3]:
            _loop_vars = {}
            pass
            yield '<li>'
            yield escape(environment.finalize(t_9(t_8(environment.getattr(l_1_step, 'title'), 300))))
            yield '</li>\n'
        l_1_step = missing
        yield '</ul>\n'
    yield '</div>\n'
    if (environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'reasons') or environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'unknowns')):
        pass
        yield '<div class="why">\n'
        if environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'reasons'):
            pass
            yield '<h2>Why</h2>\n<ul class="reasons">\n'
            for l_1_reason in environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'reasons'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(t_9(t_8(l_1_reason, 600))))
                yield '</li>\n'
            l_1_reason = missing
            yield '</ul>\n'
        if environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'unknowns'):
            pass
            yield '<h2>What is not known</h2>\n<ul class="reasons">\n'
            for l_1_unknown in environment.getattr((undefined(name='verdict') if l_0_verdict is missing else l_0_verdict), 'unknowns'):
                _loop_vars = {}
                pass
                yield '<li>'
                yield escape(environment.finalize(t_9(t_8(l_1_unknown, 600))))
                yield '</li>\n'
            l_1_unknown = missing
            yield '</ul>\n'
            if environment.getattr((undefined(name='advice') if l_0_advice is missing else l_0_advice), 'looks'):
                pass
                yield '<p><a href="#unknown">What would tell</a></p>'
        yield '</div>\n'
    yield '</section>'


TEMPLATES = {
    'activity.html.j2': _activity_html,
    'course.html.j2': _course_html,
    'evidence.html.j2': _evidence_html,
    'figures.html.j2': _figures_html,
    'graph.html.j2': _graph_html,
    'job.html.j2': _job_html,
    'machines.html.j2': _machines_html,
    'parts.html.j2': _parts_html,
    'ranks.html.j2': _ranks_html,
    'record.html.j2': _record_html,
    'remedy.html.j2': _remedy_html,
    'report.html.j2': _report_html,
    'settings.html.j2': _settings_html,
    'training.html.j2': _training_html,
    'verdict.html.j2': _verdict_html,
}

STYLE = ':root {\n  color-scheme: light dark;\n  --page: #fbfbf9; --card: #ffffff; --ink: #1b1e24; --quiet: #575d69; --rule: #dcdde0; --well: #f3f3f0;\n  --accent: #555b66; --tint: #eceef1;\n  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;\n  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;\n}\n.family-timeout { --accent: #7d5200; --tint: #fbf0d9; }\n.family-network { --accent: #1a56b0; --tint: #e6eefb; }\n.family-precision { --accent: #7336ad; --tint: #f2e9fa; }\n.family-heterogeneous { --accent: #00666e; --tint: #e0f3f4; }\n.family-memory { --accent: #b0231b; --tint: #fce9e7; }\n.family-hardware { --accent: #a12a56; --tint: #fbe8ef; }\n.family-environment { --accent: #386319; --tint: #ebf4e3; }\n.family-process { --accent: #96350f; --tint: #fbebe4; }\n.family-none { --accent: #1a6a40; --tint: #e3f4ea; }\n.family-unknown { --accent: #4b5160; --tint: #eceef2; }\n@media (prefers-color-scheme: dark) {\n  :root { --page: #13151a; --card: #1a1d23; --ink: #e7e8ea; --quiet: #a3a9b5; --rule: #343841; --well: #20242b; }\n  .family-timeout { --accent: #edb856; --tint: #3a2d12; }\n  .family-network { --accent: #8db5ff; --tint: #1b2c4b; }\n  .family-precision { --accent: #cfa8f6; --tint: #35234a; }\n  .family-heterogeneous { --accent: #66cfd6; --tint: #11383b; }\n  .family-memory { --accent: #ff9f96; --tint: #4a201d; }\n  .family-hardware { --accent: #ff9fbe; --tint: #48202f; }\n  .family-environment { --accent: #a5d283; --tint: #27371a; }\n  .family-process { --accent: #ffb08a; --tint: #46281a; }\n  .family-none { --accent: #80d6a6; --tint: #173626; }\n  .family-unknown { --accent: #b9c0cd; --tint: #2b303a; }\n}\n*, *::before, *::after { box-sizing: border-box; }\nhtml { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }\nbody { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.55 var(--sans); overflow-wrap: anywhere; }\nmain, .masthead, footer { max-width: 72rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }\nh1, h2, h3, p, ul, ol, dl, dd, figure, pre { margin: 0; }\nh1 { font-size: clamp(1.4rem, 1.1rem + 1.2vw, 1.9rem); line-height: 1.22; letter-spacing: -0.015em; font-weight: 650; text-wrap: balance; }\nh2 { font-size: 1.25rem; line-height: 1.3; letter-spacing: -0.01em; font-weight: 650; margin-bottom: 1rem; }\nh3 { font-size: 1rem; font-weight: 650; margin: 1.75rem 0 0.5rem; }\nul, ol { padding-left: 1.35rem; }\nli + li { margin-top: 0.35rem; }\na { color: var(--accent); text-underline-offset: 0.15em; }\ncode, pre, .log { font-family: var(--mono); font-size: 0.8125rem; }\n:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }\n.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }\n.skip { position: absolute; left: -100vw; top: 0; padding: 0.5rem 1rem; background: var(--card); z-index: 1; }\n.skip:focus { left: 0; }\n.whole { white-space: nowrap; }\n.quiet { color: var(--quiet); font-size: 0.875rem; }\n.quiet > span + span::before, .quiet > span + code::before { content: "·"; margin: 0 0.4em; color: var(--quiet); }\n\n.masthead { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; justify-content: space-between; padding-top: 1.1rem; padding-bottom: 1.1rem; font-size: 0.875rem; }\n.masthead .name { font-weight: 650; letter-spacing: 0.01em; }\n.masthead .inputs { color: var(--quiet); font-family: var(--mono); font-size: 0.8125rem; }\n.masthead .inputs span + span { margin-left: 1em; }\n\n#verdict { display: grid; grid-template-columns: minmax(0, 1fr); background: var(--card); border: 1px solid var(--rule); border-top: 4px solid var(--accent); border-radius: 6px; }\n#verdict > div { padding: clamp(1.1rem, 3vw, 2rem); }\n#verdict .why { border-top: 1px solid var(--rule); }\n#verdict .why > * + h2 { margin-top: 1.5rem; }\n#verdict .why > ul + p { margin-top: 0.6rem; }\n#verdict .next { border-top: 1px solid var(--rule); }\n#verdict h2 { font-size: 0.8125rem; letter-spacing: 0.04em; text-transform: uppercase; color: var(--quiet); margin-bottom: 0.5rem; }\n#verdict h3 { font-size: 0.8125rem; letter-spacing: 0.04em; text-transform: uppercase; color: var(--quiet); margin: 1.5rem 0 0.5rem; }\n.eyebrow { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 0.75rem; margin-bottom: 0.6rem; color: var(--accent); font-size: 0.9375rem; }\n.eyebrow strong { text-transform: uppercase; letter-spacing: 0.05em; font-size: 0.8125rem; }\n.where { display: flex; flex-wrap: wrap; gap: 0.75rem 2rem; margin: 1.4rem 0 0; }\n.where dt { font-size: 0.8125rem; color: var(--quiet); }\n.where dd { font-size: 1.125rem; font-weight: 600; font-variant-numeric: tabular-nums; max-width: 20rem; }\n.sure { margin: 1.4rem 0 0; font-size: 0.9375rem; }\n.sure strong { font-size: 1.125rem; margin-right: 0.35em; font-variant-numeric: tabular-nums; }\n.meter { height: 6px; margin-top: 0.5rem; border-radius: 3px; background: var(--well); border: 1px solid var(--rule); overflow: hidden; }\n.meter svg { display: block; width: 100%; min-width: 0; height: 100%; }\n.meter rect { fill: var(--accent); }\n.reasons { padding-left: 1.1rem; }\n.next ol { padding-left: 1.3rem; }\n.next li { padding-left: 0.1rem; }\n.next li + li { margin-top: 0.9rem; }\n.next .warnings li + li { margin-top: 0.4rem; }\n.next > ol + p { margin-top: 0.9rem; }\n.action { font-size: 1.125rem; font-weight: 600; margin-bottom: 0.9rem; }\n.boxed { display: flex; align-items: flex-start; margin-top: 0.5rem; background: var(--well); border: 1px solid var(--rule); border-radius: 4px; }\n.boxed pre { flex: 1; min-width: 0; padding: 0.55rem 0.75rem; }\n.diff { overflow-x: auto; white-space: pre; overflow-wrap: normal; }\n.command { white-space: pre-wrap; }\n.diff ins, .diff del { text-decoration: none; display: inline; }\n.diff ins { font-weight: 650; color: var(--accent); }\n.diff del { color: var(--quiet); }\n[hidden] { display: none !important; }\n.copy { margin: 0.3rem; padding: 0.2rem 0.6rem; min-height: 1.75rem; border: 1px solid var(--rule); border-radius: 4px; background: var(--card); color: var(--ink); font: 0.8125rem/1.2 var(--sans); white-space: nowrap; cursor: pointer; }\n.copy:hover { border-color: var(--accent); }\n.evidence .copy { margin: 0 0 0 auto; }\n\nnav { margin: 1.25rem 0 0; font-size: 0.9375rem; }\nnav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.35rem; list-style: none; padding: 0; }\nnav li + li { margin: 0; }\nsection + section, nav + section { margin-top: 3rem; }\nsection { scroll-margin-top: 1rem; }\n\n.evidence { border: 1px solid var(--rule); border-radius: 6px; background: var(--card); overflow: hidden; }\n.evidence + .evidence { margin-top: 1rem; }\n.evidence figcaption { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.2rem 0.9rem; padding: 0.5rem 0.9rem; border-bottom: 1px solid var(--rule); color: var(--quiet); font-size: 0.875rem; }\n.evidence pre { padding: 0.6rem 0; white-space: pre-wrap; line-height: 1.5; }\n.evidence pre code { display: block; }\n.evidence pre span { display: block; padding: 0.05rem 0.9rem; border-left: 3px solid transparent; }\n.evidence .around { color: var(--quiet); }\n.evidence .cited { border-left-color: var(--accent); background: var(--well); color: var(--ink); }\n.evidence ~ p { margin-top: 0.75rem; }\n.evidence details { margin: 0; }\n.evidence summary { padding: 0.25rem 0.9rem; font-size: 0.8125rem; font-weight: 400; color: var(--quiet); }\n.evidence details > pre { margin: 0; padding: 0; }\n.evidence details[open] + pre { padding-top: 0; }\n.tag { font-weight: 600; color: var(--ink); }\n.role-cause .tag { color: var(--accent); }\nmark { background: var(--tint); color: inherit; font-weight: 600; border-bottom: 2px solid var(--accent); padding: 0.05em 0; }\n.place { color: var(--ink); }\n\n.cascade { padding-left: 1.35rem; }\n.cascade li + li { margin-top: 0.9rem; }\n.cascade .title, .steps .title { font-weight: 600; }\n\n.scroll { overflow-x: auto; }\nsvg { display: block; min-width: 56rem; width: 100%; height: auto; font: 12px var(--sans); }\nsvg text { fill: var(--quiet); }\nsvg .lane line { stroke: var(--rule); }\ntr.culprit td { font-weight: 650; }\nsvg .culprit text { fill: var(--accent); font-weight: 650; }\nsvg .culprit line { stroke: var(--accent); }\nsvg .since { stroke: var(--accent); stroke-dasharray: 3 4; }\nsvg .tick line { stroke: var(--quiet); }\nsvg .course { fill: var(--page); stroke: var(--quiet); stroke-width: 1.5; }\nsvg .finding { fill: var(--quiet); }\nsvg .followed { fill: var(--ink); }\nsvg .cause { fill: var(--accent); stroke: var(--page); stroke-width: 1.5; }\n.legend { margin-top: 0.5rem; font-size: 0.875rem; color: var(--quiet); }\n.legend .key { margin-left: 0.9em; }\n.legend .key:first-child { margin-left: 0; }\n.key.cause { color: var(--accent); }\n.key.followed { color: var(--ink); }\n\n.prose { max-width: 44rem; }\n.prose p + p { margin-top: 0.6rem; }\n.steps { margin-top: 1.25rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.4rem; }\n.steps li { margin: 0; padding-left: 0.25rem; max-width: 52rem; }\n.steps li > * + * { margin-top: 0.4rem; }\n.steps .setting .from code { color: var(--quiet); text-decoration: line-through; }\n.steps .setting .to { font-weight: 700; color: var(--accent); }\n.warnings { margin-top: 0.5rem; list-style: "✕  "; }\n.notice { margin-top: 1.75rem; padding: 1rem 1.25rem; border-left: 4px solid var(--accent); border-radius: 0 6px 6px 0; background: var(--well); }\nh2 + .notice { margin-top: 0; }\n.notice h3:first-child { margin-top: 0; }\n.notice .boxed { background: var(--card); }\n.warnings li::marker { color: var(--accent); }\n\n.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(clamp(8rem, 30vw, 15rem), 1fr)); gap: 0.9rem 2rem; }\n.facts + ul { margin-top: 1rem; }\n.facts dt { font-size: 0.8125rem; color: var(--quiet); }\n.facts dd { font-variant-numeric: tabular-nums; }\n.names span { margin-right: 0.75em; }\n\ndetails { margin-top: 1rem; }\nsummary { cursor: pointer; font-weight: 600; padding: 0.25rem 0; width: fit-content; }\ndetails > :not(summary) { margin-top: 0.5rem; }\ntable { border-collapse: collapse; width: 100%; min-width: 36rem; font-size: 0.875rem; }\ncaption { text-align: left; color: var(--quiet); padding-bottom: 0.4rem; }\nth { text-align: left; font-weight: 600; white-space: nowrap; color: var(--quiet); border-bottom: 1px solid var(--rule); }\nth, td { padding: 0.45rem 1rem 0.45rem 0; vertical-align: top; }\ntd { border-bottom: 1px solid var(--rule); overflow-wrap: break-word; }\ntd p + p { margin-top: 0.15rem; }\ntd.log, td .log { color: var(--quiet); min-width: 16rem; overflow-wrap: anywhere; }\ntd.ranks { min-width: 7rem; }\n.count, .time, .role { font-variant-numeric: tabular-nums; white-space: nowrap; }\nfooter::before { content: ""; display: block; border-top: 1px solid var(--rule); margin-bottom: 1.25rem; }\nfooter { margin-top: 3.5rem; padding-bottom: 2.5rem; color: var(--quiet); font-size: 0.8125rem; }\n\n@media (max-width: 40rem) {\n  .boxed { flex-direction: column-reverse; }\n  .boxed pre { width: 100%; }\n  .boxed .copy { align-self: flex-end; margin-bottom: 0; }\n}\n@media (min-width: 60rem) {\n  #verdict { grid-template: auto 1fr / minmax(0, 1.5fr) minmax(0, 1fr); }\n  #verdict .next { grid-column: 2; grid-row: 1 / 3; border-top: 0; border-left: 1px solid var(--rule); }\n  #verdict .why { border-top: 0; padding-top: 0; }\n}\n@media (min-width: 110rem) { main, .masthead, footer { max-width: 88rem; } }\n@media (forced-colors: active) {\n  :root, body[class] { --page: Canvas; --card: Canvas; --well: Canvas; --tint: Canvas; --ink: CanvasText; --quiet: CanvasText; --rule: CanvasText; --accent: LinkText; }\n  .meter rect, .cited { forced-color-adjust: none; }\n  mark { text-decoration: underline; }\n}\n@media print {\n  @page { margin: 16mm 14mm; }\n  :root { color-scheme: light; --page: #ffffff; --card: #ffffff; --ink: #000000; --quiet: #444444; --rule: #bbbbbb; --well: #f4f4f4; }\n  body { font-size: 10pt; }\n  main, .masthead, footer { max-width: none; padding-left: 0; padding-right: 0; }\n  nav, .skip, .copy { display: none; }\n  #verdict { display: block; }\n  #verdict .next, #verdict .why { border-left: 0; border-top: 1px solid var(--rule); padding-top: 1rem; }\n  details::details-content { content-visibility: visible; block-size: auto; }\n  a[href^="https:"]::after { content: " (" attr(href) ")"; color: var(--quiet); }\n  a[href^="https:"]:is(.source > *)::after { content: none; }\n  .evidence figcaption, .steps li, .cascade li, tr, .boxed, .meter, svg { break-inside: avoid; }\n  .evidence { overflow: visible; }\n  thead { display: table-header-group; }\n  table { min-width: 0; font-size: 8pt; }\n  code, pre, .log { font-size: 7.5pt; }\n  .scroll { overflow: visible; }\n  td.log, td .log { min-width: 0; }\n  td, td code { overflow-wrap: anywhere; }\n  .diff { white-space: pre-wrap; overflow-wrap: anywhere; }\n  h2, h3, caption, .evidence figcaption, summary { break-after: avoid; }\n  .meter rect { print-color-adjust: exact; }\n  svg { min-width: 0; }\n  section + section { margin-top: 2rem; }\n}\n\nsvg .speaking { fill: var(--quiet); }\nsvg .l1 { fill-opacity: 0.5; }\nsvg .l2 { fill-opacity: 0.6; }\nsvg .l3 { fill-opacity: 0.7; }\nsvg .l4 { fill-opacity: 0.85; }\nsvg .lane .silence { stroke: var(--quiet); stroke-dasharray: 2 5; }\nsvg .lane .last { stroke: var(--ink); stroke-width: 2; }\nsvg .trouble { fill: var(--accent); stroke: var(--page); paint-order: stroke; }\nsvg .hit { fill: none; pointer-events: all; }\n.key.last { color: var(--ink); }\n\nsvg.graph { width: auto; min-width: 0; max-width: none; margin-bottom: 1.25rem; }\nsvg.graph .edge { fill: none; stroke: var(--quiet); stroke-width: 1.5; }\nsvg.graph rect { fill: var(--card); stroke: var(--quiet); }\nsvg.graph .at-fault rect { fill: var(--tint); stroke: var(--accent); stroke-width: 2; }\nsvg.graph .name { fill: var(--ink); font-weight: 600; }\n\nsvg .labels rect { fill: var(--page); }\nsvg .labels .culprit { fill: var(--accent); font-weight: 650; }\nsvg .near { display: none; }\nsvg.is-near .near { display: inline; }\nsvg.is-near .far { display: none; }\n.zoom button[aria-disabled="true"] { color: var(--quiet); cursor: default; }\n\n@media print {\n  svg.graph { max-width: 100%; }\n  #activity .time { white-space: normal; }\n}\n\n.machines th[scope="row"] { font-weight: 600; color: var(--ink); white-space: normal; min-width: 9rem; max-width: 16rem; overflow-wrap: anywhere; border-color: var(--rule); }\n.machines th[scope="row"] span { display: block; }\n.machines th[scope="row"] .quiet { font-weight: 400; }\n.machines tr.culprit td { font-weight: inherit; }\n.machines tr.culprit > * { background: var(--tint); }\n.machines tr.culprit > :first-child { box-shadow: inset 4px 0 var(--accent); padding-left: 0.85rem; }\n.machines .here { display: block; color: var(--accent); font-size: 0.8125rem; font-weight: 650; }\n.machines ul { list-style: none; padding: 0; }\n.machines li { margin: 0; }\n.machines .gpus { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: 0.35rem; min-width: 18rem; }\n.machines .gpus li { padding: 0.3rem 0.55rem; border: 1px solid var(--rule); border-radius: 4px; background: var(--card); font-size: 0.8125rem; line-height: 1.4; }\n.machines .gpus li > * { display: block; }\n.machines .gpus .culprit { border: 2px solid var(--accent); }\n.machines .gpus strong { font-weight: 650; font-variant-numeric: tabular-nums; }\n.machines .gpus code { color: var(--quiet); }\n.machines .adapters { min-width: 9rem; }\n.machines .adapters .culprit code { color: var(--accent); font-weight: 650; }\n.machines .unlike { min-width: 11rem; max-width: 18rem; }\n.machines .unlike li::before { content: "≠ "; content: "≠ " / ""; color: var(--accent); font-weight: 650; }\n.links { min-width: 50rem; }\n.links p { margin-top: 0.2rem; }\n.names span { display: inline-block; max-width: 100%; }\n#machines .notes { margin: 0 0 1rem; }\n\n.environment tbody th { font: 0.8125rem/1.55 var(--mono); color: var(--ink); white-space: normal; min-width: 10rem; max-width: 20rem; overflow-wrap: anywhere; border-color: var(--rule); }\n.environment td { min-width: 7rem; }\n.environment .why, .environment .apart { display: block; font: 0.8125rem/1.4 var(--sans); color: var(--quiet); }\n.environment .differs > th { box-shadow: inset 4px 0 var(--accent); padding-left: 0.85rem; }\n.environment .differs .apart { color: var(--accent); font-weight: 650; }\n\n@media (max-width: 40rem) {\n  .machines { min-width: 30rem; }\n  .machines th[scope="row"] { min-width: 7rem; }\n  .machines .gpus { min-width: 14rem; grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr)); }\n  .environment tbody th { min-width: 8rem; max-width: 11rem; }\n}\n@media (forced-colors: active) {\n  .machines tr.culprit > :first-child, .environment .differs > th { border-left: 4px solid LinkText; }\n}\n@media print {\n  .links { min-width: 0; }\n  .machines .gpus, .machines .adapters, .machines .unlike, .machines th[scope="row"], .environment tbody th, .environment td { min-width: 0; }\n  .machines .gpus { grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr)); }\n}\n\nsvg .panel line { stroke: var(--rule); }\nsvg .panel .name { fill: var(--ink); font-weight: 600; }\nsvg .curve { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }\nsvg .curve.earlier { stroke: var(--quiet); stroke-width: 1; }\nsvg.choice .curve { stroke-dasharray: 2 5; }\nsvg .panel circle { fill: var(--accent); stroke: var(--page); stroke-width: 1; }\nsvg .skip { fill: var(--ink); }\nsvg .not-finite { fill: none; stroke: var(--ink); stroke-width: 2; }\n.course { margin-bottom: 1rem; }\n'

SCRIPT = '(() => {\n"use strict";\n// Comfort for readers with scripts. The page is whole without them, and a control that needs them is shown from here.\n\nconst told = document.getElementById("told");\n\nfor (const button of document.querySelectorAll("button.copy")) {\n  button.hidden = false;\n  button.addEventListener("click", () => copyBeside(button));\n}\n\n// Readers without this see closed parts printed as well, where the browser knows ::details-content.\nlet opened = [];\naddEventListener("beforeprint", () => {\n  opened = [...document.querySelectorAll("details:not([open])")];\n  for (const part of opened) part.open = true;\n});\naddEventListener("afterprint", () => {\n  for (const part of opened) part.open = false;\n});\n\nasync function copyBeside(button) {\n  told.textContent = ""; // so that the same words are told again\n  const parts = [...button.closest(".copyable").querySelectorAll("code[data-lines]")];\n  const shown = parts.filter((code) => code.checkVisibility());\n  const done = await copied(shown.map(textOf).join("\\n"));\n  if (!done) getSelection().setBaseAndExtent(shown[0], 0, shown.at(-1), shown.at(-1).childNodes.length);\n  tell(button, done ? "Copied" : "Selected, not copied");\n}\n\n// A log\'s lines are elements of their own, without line feeds between them.\nfunction textOf(code) {\n  const lines = [...code.querySelectorAll(":scope > span")];\n  return lines.length ? lines.map((line) => line.textContent).join("\\n") : code.textContent;\n}\n\n// Whether the browser took the text. Its clipboard is there only in a secure context, which a page of a share is not.\nasync function copied(text) {\n  try {\n    await navigator.clipboard.writeText(text);\n    return true;\n  } catch {\n    return copiedBySelection(text);\n  }\n}\n\nfunction copiedBySelection(text) {\n  const area = document.createElement("textarea");\n  const focused = document.activeElement;\n  area.className = "visually-hidden";\n  area.value = text;\n  document.body.append(area);\n  area.select();\n  const done = document.execCommand("copy");\n  area.remove();\n  focused.focus({ preventScroll: true });\n  return done;\n}\n\nfunction tell(button, what) {\n  const label = button.firstElementChild;\n  told.textContent = what;\n  label.textContent = what;\n  setTimeout(() => {\n    label.textContent = "Copy";\n  }, 2500);\n}\n})();\n(() => {\n"use strict";\n// Zoom of the timeline: moments move apart, letters and marks stay as large as they are. Without scripts all is shown.\n\nfor (const frame of document.querySelectorAll(".zoomable")) zoomable(frame);\n\nfunction zoomable(frame) {\n  const WIDEST = 32, NEAR = Number(frame.dataset.near);\n  const svg = frame.querySelector("svg"), controls = frame.previousElementSibling;\n  const { width, height } = svg.viewBox.baseVal;\n  const moving = [...svg.querySelectorAll(".moves")].map((part) => ({ part, x: placeOf(part) }));\n  const lines = svg.querySelectorAll(".lane line"), labels = svg.querySelector(".labels");\n  const left = lines[0].x1.baseVal.value;\n  let zoom = 1;\n\n  controls.hidden = false;\n  controls.addEventListener("click", (event) => {\n    const asked = event.target.closest("button")?.dataset.zoom;\n    if (asked) show({ in: zoom * 2, out: zoom / 2, whole: 1 }[asked]);\n  });\n  frame.addEventListener("keydown", (event) => {\n    const asked = { "+": zoom * 2, "=": zoom * 2, "-": zoom / 2, 0: 1 }[event.key];\n    if (asked === undefined || event.ctrlKey || event.metaKey || event.altKey) return;\n    event.preventDefault();\n    show(asked);\n  });\n  frame.addEventListener("wheel", (event) => {\n    if (!event.ctrlKey && !event.metaKey) return;\n    event.preventDefault();\n    show(zoom * 2 ** (-Math.sign(event.deltaY) / 2), event.clientX - frame.getBoundingClientRect().left);\n  }, { passive: false });\n  frame.addEventListener("scroll", keepLabels);\n  // On paper nobody scrolls.\n  addEventListener("beforeprint", () => show(1));\n  limit();\n\n  // Draws the picture `wanted` times as wide; what is shown at pixel `at` of the frame stays there.\n  function show(wanted, at = frame.clientWidth / 2) {\n    const next = Math.min(WIDEST, Math.max(1, wanted));\n    if (next === zoom) return;\n    const before = pixel(), place = ((frame.scrollLeft + at) / before - left) / zoom;\n    zoom = next;\n    const wide = left + (width - left) * zoom;\n    svg.setAttribute("viewBox", `0 0 ${wide} ${height}`);\n    svg.style.width = zoom > 1 ? `${before * wide}px` : "";\n    svg.style.maxWidth = "none";\n    for (const { part, x } of moving) part.setAttribute("transform", `translate(${(x - left) * (zoom - 1)} 0)`);\n    for (const line of lines) line.setAttribute("x2", wide - 8);\n    svg.classList.toggle("is-near", zoom >= NEAR);\n    frame.scrollLeft = (left + place * zoom) * pixel() - at;\n    keepLabels();\n    limit();\n    told.textContent = zoom > 1 ? `Timeline drawn ${Math.round(zoom * 10) / 10} times as wide` : "The whole timeline is shown";\n  }\n\n  // CSS pixels of a unit of the picture.\n  function pixel() {\n    return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;\n  }\n\n  function keepLabels() {\n    labels.setAttribute("transform", `translate(${frame.scrollLeft / pixel()} 0)`);\n  }\n\n  // A control that can do nothing says so, and keeps the focus that it has.\n  function limit() {\n    for (const button of controls.querySelectorAll("button")) {\n      const done = button.dataset.zoom === "in" ? zoom >= WIDEST : zoom <= 1;\n      button.setAttribute("aria-disabled", done);\n    }\n  }\n}\n\nfunction placeOf(part) {\n  const at = part.cx ?? (part.x1 ?? part.querySelector("line")?.x1);\n  return at ? at.baseVal.value : part.getBBox().x + part.getBBox().width / 2;\n}\n})();\n'
